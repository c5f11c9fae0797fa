// Proves SPEC 16.6
import { describe, expect, it } from 'vitest';
import { boundedQueue } from '../../../src/adapters/limits/bounded-queue.ts';

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
