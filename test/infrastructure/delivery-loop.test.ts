// Proves network-8, mail-9
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Clock } from '../../src/application/ports/clock-and-ids.ts';
import { countOfWaiting, createWakeUpSignal, deliver } from '../../src/infrastructure/delivery-loop.ts';

/** Milliseconds after which something hangs. */
const HANGING = 600_000;

/** An outbox of attempts that end when the test says so. `fail` makes the next read of it fail. */
const anOutbox = () => {
  const waiting: Promise<void>[] = [];
  const begun: Promise<void>[] = [];
  let failures = 0;
  const reads: number[] = [];
  /** When the sender last polled, for each read. */
  const lastPolledAt: (number | undefined)[] = [];
  return {
    begun,
    reads,
    lastPolledAt,
    abortAttempts: vi.fn(),
    fail: (times: number) => {
      failures = times;
    },
    add: () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      waiting.push(promise);
      return resolve;
    },
    send: async (limit: number, at?: number) => {
      reads.push(limit);
      lastPolledAt.push(at);
      if (failures > 0) {
        failures -= 1;
        throw new Error('down');
      }
      const attempts = waiting.splice(0, limit);
      begun.push(...attempts);
      return attempts;
    },
  };
};

/** Each time that it is asked, a millisecond has passed. */
const tickingClock = (): Clock => {
  let now = 0;
  return {
    now: () => {
      now += 1;
      return now;
    },
  };
};

const start = (given: { pollInterval?: number; grace?: number } = {}) => {
  const outbox = anOutbox();
  const lines: string[] = [];
  const log = (_context: unknown, text?: unknown) => void lines.push(String(text));
  const logger = { info: log, warn: log };
  const signalled = createWakeUpSignal();
  const stop = new AbortController();
  const idle = vi.fn(async () => undefined);
  const { send, abortAttempts } = outbox;
  const loop = { send, concurrency: 10, store: 'the outbox' };
  const deps = {
    ...loop,
    wakeUp: signalled,
    abortAttempts,
    clock: tickingClock(),
    logger: logger as never,
    onIdle: idle,
  };
  const done = deliver(deps, stop.signal, { pollInterval: HANGING, grace: HANGING, ...given });
  return { outbox, lines, wake: signalled.wake, idle, stop: () => stop.abort(), done };
};

describe('the loop that sends mail', () => {
  it('does not read messages that may wait when it is signalled', async () => {
    const { outbox, wake, idle, stop, done } = start();
    for (let times = 1; times < 4; times += 1) {
      await expect.poll(() => idle).toHaveBeenCalledTimes(times);
      wake();
    }
    await expect.poll(() => idle).toHaveBeenCalledTimes(4);
    expect(new Set(outbox.lastPolledAt).size).toBe(1);
    stop();
    await done;
  });

  it('reads them at once when it is signalled for all', async () => {
    const { outbox, wake, idle, stop, done } = start();
    await expect.poll(() => idle).toHaveBeenCalledTimes(1);
    wake(true);
    await expect.poll(() => new Set(outbox.lastPolledAt).size).toBe(2);
    stop();
    await done;
  });

  it('reads them after a time, however often it is signalled', async () => {
    const { outbox, wake, stop, done } = start({ pollInterval: 20 });
    const ringing = setInterval(() => wake(), 1);
    onTestFinished(() => clearInterval(ringing));
    await expect.poll(() => new Set(outbox.lastPolledAt).size).toBeGreaterThan(3);
    stop();
    await done;
  });

  it('sends at most ten at the same time, and a further one as soon as one has ended', async () => {
    const { outbox, wake, idle, stop, done } = start();
    await expect.poll(() => idle).toHaveBeenCalled();
    const ends = Array.from({ length: 12 }, outbox.add);
    wake();
    await expect.poll(() => outbox.begun).toHaveLength(10);
    ends[7]?.();
    await expect.poll(() => outbox.begun).toHaveLength(11);
    for (const end of ends) end();
    await expect.poll(() => outbox.begun).toHaveLength(12);
    stop();
    await done;
  });

  it('warns once while the outbox cannot be read, and goes on', async () => {
    const { outbox, lines, stop, done } = start({ pollInterval: 1 });
    outbox.fail(5);
    await expect.poll(() => lines).toHaveLength(2);
    outbox.add()();
    await expect.poll(() => outbox.begun).toHaveLength(1);
    expect(lines).toEqual(['the outbox could not be read', 'the outbox can be read again']);
    stop();
    await done;
  });

  it('ends when it is stopped, after what it has begun', async () => {
    const { outbox, wake, stop, done } = start();
    const end = outbox.add();
    wake();
    await expect.poll(() => outbox.begun).toHaveLength(1);
    stop();
    let isDone = false;
    const watched = done.then(() => {
      isDone = true;
    });
    outbox.add();
    wake();
    await new Promise((resolve) => setImmediate(resolve));
    expect(isDone).toBe(false);
    end();
    await watched;
    expect(outbox.begun).toHaveLength(1);
    expect(outbox.abortAttempts).not.toHaveBeenCalled();
  });

  it.each([
    ['which puts the message back', true],
    ['even if that takes too long', false],
  ])('abortAttemptss a mail that hangs when it is stopped, %s', async (_what, ends) => {
    const { outbox, wake, stop, done } = start({ grace: 1 });
    const end = outbox.add();
    if (ends) outbox.abortAttempts.mockImplementation(end);
    wake();
    await expect.poll(() => outbox.begun).toHaveLength(1);
    stop();
    // The timers of the grace period do not keep a process alive; this one does.
    const alive = setTimeout(() => undefined, HANGING);
    await done;
    clearTimeout(alive);
    expect(outbox.abortAttempts).toHaveBeenCalledOnce();
  });
});

it('counts what waits once a second at most, however often it has nothing to send', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  const read = vi.fn(async () => ({ count: 7, since: 0 }));
  const { update, waiting } = countOfWaiting(read, { now: () => 2_000 });
  for (let time = 0; time < 20; time += 1) {
    await update();
    vi.advanceTimersByTime(100);
  }
  expect(read).toHaveBeenCalledTimes(2);
  expect(waiting()).toEqual({ count: 7, seconds: 2 });
});
