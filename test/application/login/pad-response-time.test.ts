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
