// Proves SPEC 16.6
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import {
  boundedQueue,
  onResponseTimeout,
  withResponseTimeout,
  withTimeout,
} from '../../../src/adapters/limits/time-limits.ts';
import { blockEventLoop } from '../../support/processes/block-event-loop.ts';

const settled = async () => {
  for (let turns = 0; turns < 10; turns += 1) await Promise.resolve();
};

/** A queue whose tasks and clock are controlled by the test. */
const controlledQueue = (options: { width: number; maxWait: number }) => {
  let time = 0;
  const running: (() => void)[] = [];
  const enqueue = boundedQueue({ ...options, now: () => time });
  const submit = () => enqueue(() => new Promise<void>((resolve) => running.push(resolve)));
  /** Ends the oldest running task, some milliseconds later. */
  const endFirst = async (later: number) => {
    await settled();
    time += later;
    running.shift()?.();
    await settled();
  };
  return { submit, endFirst, load: enqueue.load };
};

const REJECTED = { code: 'SYS_HTTP_UNEXPECTED_ERROR', status: 503 };

describe('the bounded queue', () => {
  it('runs no more than its width at once', async () => {
    const { submit, endFirst, load } = controlledQueue({ width: 2, maxWait: 1_000 });
    const all = [submit(), submit(), submit()];
    await settled();
    expect(load()).toEqual({ running: 2, waiting: 1 });
    await endFirst(0);
    expect(load()).toEqual({ running: 2, waiting: 0 });
    await endFirst(0);
    await endFirst(0);
    await Promise.all(all);
    expect(load()).toEqual({ running: 0, waiting: 0 });
  });

  it('queues tasks that will start in time, and rejects the next one at once', async () => {
    // Four tasks of 50 ms, two at a time: the next one would wait 100 ms.
    const { submit, load } = controlledQueue({ width: 2, maxWait: 100 });
    const admitted = Array.from({ length: 6 }, submit);
    await expect(submit()).rejects.toMatchObject({ ...REJECTED, retryAfter: 1 });
    await settled();
    expect(load()).toEqual({ running: 2, waiting: 4 });
    expect(admitted).toHaveLength(6);
  });

  it('estimates the duration of tasks, and returns the wait as Retry-After', async () => {
    const { submit, endFirst } = controlledQueue({ width: 1, maxWait: 2_500 });
    for (let past = 0; past < 40; past += 1) {
      const done = submit();
      await settled();
      await endFirst(2_000);
      await done;
    }
    void submit();
    void submit();
    await settled();
    await expect(submit()).rejects.toMatchObject({ ...REJECTED, retryAfter: 4 });
  });

  it('continues after a task that failed', async () => {
    const enqueue = boundedQueue({ width: 1, maxWait: 0 });
    await expect(enqueue(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await enqueue(async () => 'yes')).toBe('yes');
  });
});

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
