import { describe, expect, it } from 'vitest';
import { padResponseTime } from '../../../src/application/accounts/register-unverified.ts';

/** Pauses that end when the test says so. */
const pauses = () => {
  const begun: PromiseWithResolvers<void>[] = [];
  const pause = () => {
    const pausing = Promise.withResolvers<void>();
    begun.push(pausing);
    return pausing.promise;
  };
  return { begun, pause };
};

const settle = () => new Promise((resolve) => setImmediate(resolve));

describe('work in steps', () => {
  it.each([
    ['was done', () => Promise.resolve('done')],
    ['failed', () => Promise.reject(new Error('failed'))],
  ])('that %s within one ends at its end', async (_how, work) => {
    const { begun, pause } = pauses();
    let isOver = false;
    const working = Promise.allSettled([padResponseTime(pause, 100, work)]).finally(() => {
      isOver = true;
    });
    await settle();
    expect([begun.length, isOver]).toEqual([1, false]);
    begun[0]?.resolve();
    expect(await working).toEqual(await Promise.allSettled([work()]));
    expect(begun).toHaveLength(1);
  });

  it('that takes longer ends at the end of the step in which it is done', async () => {
    const { begun, pause } = pauses();
    const work = Promise.withResolvers<string>();
    let isOver = false;
    const working = padResponseTime(pause, 100, () => work.promise).finally(() => {
      isOver = true;
    });
    begun[0]?.resolve();
    await settle();
    expect(begun).toHaveLength(2);
    work.resolve('done');
    await settle();
    expect(isOver).toBe(false);
    begun[1]?.resolve();
    expect(await working).toBe('done');
    expect(begun).toHaveLength(2);
  });
});
