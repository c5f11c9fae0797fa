import { describe, expect, it } from 'vitest';
import { keyedMutex } from '../../../src/application/login/login.ts';

const setUp = () => {
  const oneAtATime = keyedMutex();
  const begun: string[] = [];
  /** Begins work that ends when the test says so. */
  const begin = (key: string, name: string) => {
    const end = Promise.withResolvers<string>();
    const done = oneAtATime(key, () => {
      begun.push(name);
      return end.promise;
    });
    return { done, end };
  };
  return { begun, begin, settle: () => new Promise((resolve) => setImmediate(resolve)) };
};

describe('keyedMutex', () => {
  it('let the work of one key wait for the work before it, and no other', async () => {
    const { begun, begin, settle } = setUp();
    const [first, second, other] = [begin('ada', 'first'), begin('ada', 'second'), begin('bob', 'other')];
    await settle();
    expect(begun).toEqual(['first', 'other']);
    first.end.resolve('one');
    expect(await first.done).toBe('one');
    await settle();
    expect(begun).toEqual(['first', 'other', 'second']);
    for (const { end } of [second, other]) end.resolve('');
  });

  it('go on after work that failed, which only its own caller sees', async () => {
    const { begun, begin } = setUp();
    const [first, second] = [begin('ada', 'first'), begin('ada', 'second')];
    first.end.reject(new Error('failed'));
    second.end.resolve('two');
    await expect(first.done).rejects.toThrow('failed');
    expect(await second.done).toBe('two');
    const third = begin('ada', 'third');
    third.end.resolve('three');
    expect(await third.done).toBe('three');
    expect(begun).toEqual(['first', 'second', 'third']);
  });
});
