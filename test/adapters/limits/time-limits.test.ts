import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import {
  onResponseTimeout,
  withRefusalTime,
  withResponseTimeout,
  withTimeout,
} from '../../../src/adapters/limits/time-limits.ts';
import { blockEventLoop } from '../../support/processes/block-event-loop.ts';

const TIMEOUT = 250;
const late = () => new Error('late');

const fakeTime = () =>
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setImmediate', 'clearImmediate', 'performance'] });
/** The number of event-loop turns in a time-out; with fake timers each takes a millisecond. */
const turnsIn = (timeout: number) => Math.ceil(timeout / 50);

describe('a response time-out', () => {
  it.each([1, 49, 50, 51, 250, 2_000])(
    'of %i ms expires after that time or up to 50 ms later, once',
    async (timeout) => {
      fakeTime();
      const giveUp = vi.fn();
      onResponseTimeout(timeout, giveUp);
      await vi.advanceTimersByTimeAsync(timeout - 1);
      expect(giveUp).not.toHaveBeenCalled();
      await vi.advanceTimersByTimeAsync(50 + turnsIn(timeout));
      expect(giveUp).toHaveBeenCalledOnce();
      await vi.advanceTimersByTimeAsync(10 * timeout);
      expect(giveUp).toHaveBeenCalledOnce();
    },
  );

  it.each([0, 20, 50, 220, 249])(
    'that is cancelled after %i ms does not expire, and leaves no timer',
    async (after) => {
      fakeTime();
      const giveUp = vi.fn();
      const cancel = onResponseTimeout(TIMEOUT, giveUp);
      await vi.advanceTimersByTimeAsync(after);
      cancel();
      expect(vi.getTimerCount()).toBe(0);
      await vi.advanceTimersByTimeAsync(10 * TIMEOUT);
      expect(giveUp).not.toHaveBeenCalled();
    },
  );

  it('does not expire because the event loop was blocked: a block counts as one turn', async () => {
    const giveUp = vi.fn();
    const cancel = onResponseTimeout(TIMEOUT, giveUp);
    for (let turn = 0; turn < 4; turn += 1) {
      blockEventLoop(2 * TIMEOUT);
      await nextTurn();
    }
    expect(giveUp).not.toHaveBeenCalled();
    cancel();
  });
});

describe.each([
  ['withResponseTimeout', withResponseTimeout],
  ['withTimeout', withTimeout],
])('%s', (_name, within) => {
  it('settles as the work does, and leaves no timer', async () => {
    fakeTime();
    await expect(within(TIMEOUT, Promise.resolve('done'), late)).resolves.toBe('done');
    await expect(within(TIMEOUT, Promise.reject(new Error('no')), late)).rejects.toThrow('no');
    expect(vi.getTimerCount()).toBe(0);
  });

  it('rejects when the work has not settled in time, and not before', async () => {
    fakeTime();
    const settled = vi.fn();
    const result = within(TIMEOUT, new Promise(() => undefined), late);
    result.catch(settled);
    await vi.advanceTimersByTimeAsync(TIMEOUT - 1);
    expect(settled).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1 + turnsIn(TIMEOUT));
    await expect(result).rejects.toThrow('late');
    expect(vi.getTimerCount()).toBe(0);
  });
});

it('withTimeout counts the time during which the event loop was blocked', async () => {
  const rejected = vi.fn();
  withTimeout(TIMEOUT, new Promise(() => undefined), late).catch(rejected);
  blockEventLoop(2 * TIMEOUT);
  // One turn of the event loop may be in progress already.
  for (let turn = 0; turn < 2; turn += 1) await nextTurn();
  expect(rejected).toHaveBeenCalledOnce();
});

it('withRefusalTime resolves at once, and rejects when the time has passed, however long the work took', async () => {
  fakeTime();
  await expect(withRefusalTime(TIMEOUT, Promise.resolve('done'))).resolves.toBe('done');
  for (const took of [0, 100, TIMEOUT - 1]) {
    const { promise: work, reject } = Promise.withResolvers();
    const rejected = vi.fn();
    withRefusalTime(TIMEOUT, work).catch(rejected);
    await vi.advanceTimersByTimeAsync(took);
    reject(new Error('no'));
    await vi.advanceTimersByTimeAsync(TIMEOUT - 1 - took);
    expect(rejected).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(rejected).toHaveBeenCalledOnce();
  }
});
