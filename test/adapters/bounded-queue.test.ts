import { describe, expect, it } from 'vitest';
import { boundedQueue } from '../../src/adapters/password-hasher/bounded-queue.ts';

const settled = async () => {
  for (let turns = 0; turns < 10; turns += 1) await Promise.resolve();
};

/** A queue whose tasks and clock are controlled by the test. */
const workshop = (options: { width: number; maxWait: number }) => {
  let time = 0;
  const running: (() => void)[] = [];
  const inTurn = boundedQueue({ ...options, now: () => time });
  const come = () => inTurn(() => new Promise<void>((resolve) => running.push(resolve)));
  /** Ends the oldest running task, some milliseconds later. */
  const endFirst = async (later: number) => {
    await settled();
    time += later;
    running.shift()?.();
    await settled();
  };
  return { come, endFirst, load: inTurn.load };
};

const turnedAway = { code: 'SYS_HTTP_UNEXPECTED_ERROR', status: 503 };

describe('the bounded queue', () => {
  it('runs no more than its width at once', async () => {
    const { come, endFirst, load } = workshop({ width: 2, maxWait: 1_000 });
    const all = [come(), come(), come()];
    await settled();
    expect(load()).toEqual({ running: 2, waiting: 1 });
    await endFirst(0);
    expect(load()).toEqual({ running: 2, waiting: 0 });
    await endFirst(0);
    await endFirst(0);
    await Promise.all(all);
    expect(load()).toEqual({ running: 0, waiting: 0 });
  });

  // Proves: password-6
  it('lets wait who will have a turn in time, and turns the next one away at once', async () => {
    // Four tasks of 50 ms, two at a time: the next one would wait 100 ms.
    const { come, load } = workshop({ width: 2, maxWait: 100 });
    const admitted = Array.from({ length: 6 }, come);
    await expect(come()).rejects.toMatchObject({ ...turnedAway, retryAfter: 1 });
    await settled();
    expect(load()).toEqual({ running: 2, waiting: 4 });
    expect(admitted).toHaveLength(6);
  });

  it('estimates the duration of tasks, and returns the wait as Retry-After', async () => {
    const { come, endFirst } = workshop({ width: 1, maxWait: 2_500 });
    for (let past = 0; past < 40; past += 1) {
      const done = come();
      await settled();
      await endFirst(2_000);
      await done;
    }
    void come();
    void come();
    await settled();
    await expect(come()).rejects.toMatchObject({ ...turnedAway, retryAfter: 4 });
  });

  it('continues after a task that failed', async () => {
    const inTurn = boundedQueue({ width: 1, maxWait: 0 });
    await expect(inTurn(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await inTurn(async () => 'yes')).toBe('yes');
  });

  it('rejects every task that would have to wait when the maximum wait is 0', async () => {
    const { come } = workshop({ width: 1, maxWait: 0 });
    void come();
    await settled();
    await expect(come()).rejects.toMatchObject(turnedAway);
  });
});
