import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { serverClock } from '../../../src/adapters/session-repository/rotation-recovery.ts';

const SERVER_START = Date.UTC(2030, 0, 1);

/** A server whose clock runs as fast as that of this process, behind a network with a delay. */
const aServer = () => {
  const started = performance.now();
  let asked = 0;
  let clock = SERVER_START;
  const now = () => clock + performance.now() - started;
  return {
    now,
    asked: () => asked,
    set: (time: number) => {
      clock = time;
    },
    ask: async () => {
      asked += 1;
      vi.advanceTimersByTime(5);
      const time = now();
      vi.advanceTimersByTime(7);
      return time;
    },
  };
};

describe('serverClock', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'Date'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('returns a deadline that is never late, and early by one round trip at most', async () => {
    const server = aServer();
    const clock = serverClock(server.ask);
    const called = server.now();
    const first = await clock.deadlineIn(1_000);
    expect(first).toBeLessThanOrEqual(called + 1_000);
    expect(first).toBeGreaterThanOrEqual(called + 1_000 - 12);

    vi.advanceTimersByTime(9_000);
    const later = server.now();
    const second = await clock.deadlineIn(1_000);
    expect(second).toBeLessThanOrEqual(later + 1_000);
    expect(second).toBeGreaterThanOrEqual(later + 1_000 - 12);
  });

  it('counts the budget from the call, however long the reading takes', async () => {
    const server = aServer();
    const clock = serverClock(async () => {
      vi.advanceTimersByTime(20_000);
      return server.now();
    });
    const called = server.now();
    expect(await clock.deadlineIn(1_000)).toBe(called + 1_000);
  });

  it('reads the clock once in 10 s', async () => {
    const server = aServer();
    const clock = serverClock(server.ask);
    for (let call = 0; call < 10; call += 1) {
      await clock.deadlineIn(0);
      vi.advanceTimersByTime(1_000);
    }
    expect(server.asked()).toBe(1);
    vi.advanceTimersByTime(1);
    await clock.deadlineIn(0);
    expect(server.asked()).toBe(2);
  });

  it('reads the clock again after forget', async () => {
    const server = aServer();
    const clock = serverClock(server.ask);
    await clock.deadlineIn(0);
    server.set(SERVER_START - 3_600_000);
    clock.forget();
    const called = server.now();
    expect(await clock.deadlineIn(0)).toBeLessThanOrEqual(called);
    expect(server.asked()).toBe(2);
  });

  it('is not affected by steps of the system clock', async () => {
    const server = aServer();
    const clock = serverClock(server.ask);
    const before = await clock.deadlineIn(0);
    vi.setSystemTime(0);
    expect(await clock.deadlineIn(0)).toBe(before + 12);
  });

  it('rejects when the clock cannot be read, and reads it again', async () => {
    const answers = [Promise.reject(new Error('away')), Promise.resolve(SERVER_START)];
    const clock = serverClock(() => answers.shift() ?? Promise.reject(new Error('asked too often')));
    await expect(clock.deadlineIn(0)).rejects.toThrow('away');
    expect(await clock.deadlineIn(0)).toBe(SERVER_START);
  });
});
