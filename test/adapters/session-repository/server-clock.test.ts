import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { serverClock } from '../../../src/adapters/session-repository/rotation-recovery/server-clock.ts';

const SERVER_START = Date.UTC(2030, 0, 1);

/** A server whose clock goes as fast as this process's, and is asked over a network that takes its time. */
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

  it('tells when a budget is used up by the clock of the server: never too late, and a round trip too early at most', async () => {
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

  it('counts the budget from the call on, however long the server takes to tell its time', async () => {
    const server = aServer();
    const clock = serverClock(async () => {
      vi.advanceTimersByTime(20_000);
      return server.now();
    });
    const called = server.now();
    expect(await clock.deadlineIn(1_000)).toBe(called + 1_000);
  });

  it('asks once in 10 s', async () => {
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

  it('asks anew once it was told to forget', async () => {
    const server = aServer();
    const clock = serverClock(server.ask);
    await clock.deadlineIn(0);
    server.set(SERVER_START - 3_600_000);
    clock.forget();
    const called = server.now();
    expect(await clock.deadlineIn(0)).toBeLessThanOrEqual(called);
    expect(server.asked()).toBe(2);
  });

  it('does not care what this machine takes the time for', async () => {
    const server = aServer();
    const clock = serverClock(server.ask);
    const before = await clock.deadlineIn(0);
    vi.setSystemTime(0);
    expect(await clock.deadlineIn(0)).toBe(before + 12);
  });

  it('fails when the server cannot be asked, and asks again', async () => {
    const answers = [Promise.reject(new Error('away')), Promise.resolve(SERVER_START)];
    const clock = serverClock(() => answers.shift() ?? Promise.reject(new Error('asked too often')));
    await expect(clock.deadlineIn(0)).rejects.toThrow('away');
    expect(await clock.deadlineIn(0)).toBe(SERVER_START);
  });
});
