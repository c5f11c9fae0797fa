import { beforeEach, describe, expect, it, vi } from 'vitest';
import { keepReading, serverClock } from '../../../src/adapters/clock/server.ts';

const SERVER_START = Date.UTC(2030, 0, 1);

/** A server whose clock runs as fast as that of this process, behind a network with a delay. */
const aServer = () => {
  const started = performance.now();
  let clock = SERVER_START;
  const now = () => clock + performance.now() - started;
  return {
    now,
    set: (time: number) => {
      clock = time;
    },
    ask: async () => {
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

  it('is the clock of this machine until that of the server is read, then that of the server', async () => {
    vi.setSystemTime(SERVER_START + 300_000);
    const server = aServer();
    const clock = serverClock(server.ask);
    expect(clock.now()).toBe(SERVER_START + 300_000);
    await clock.read();
    expect(Math.abs(clock.now() - server.now())).toBeLessThanOrEqual(6);
    vi.advanceTimersByTime(3_600_000);
    vi.setSystemTime(0);
    expect(Math.abs(clock.now() - server.now())).toBeLessThanOrEqual(6);
    expect(Number.isInteger(clock.now())).toBe(true);
  });

  it('is not moved by a slow response, which may have waited on either way, unless it must be wrong', async () => {
    const server = aServer();
    const delays = { before: 0, after: 0 };
    const clock = serverClock(async () => {
      vi.advanceTimersByTime(delays.before);
      const time = server.now();
      vi.advanceTimersByTime(delays.after);
      return time;
    });
    await clock.read();
    for (const [before, after] of [
      [60_000, 0],
      [0, 60_000],
    ] as const) {
      Object.assign(delays, { before, after });
      await clock.read();
      expect(clock.now() - Math.floor(server.now())).toBe(0);
    }
    // The server's clock is set: half a minute of it cannot be the response.
    server.set(SERVER_START + 90_000);
    await clock.read();
    expect(Math.abs(server.now() - clock.now())).toBeLessThanOrEqual(60_000);
    Object.assign(delays, { before: 5, after: 7 });
    await clock.read();
    expect(Math.abs(server.now() - clock.now())).toBeLessThanOrEqual(12);
  });

  it('of a reading that failed stays as it was', async () => {
    const server = aServer();
    let isAway = false;
    const clock = serverClock(async () => (isAway ? Promise.reject(new Error('away')) : server.now()));
    await clock.read();
    isAway = true;
    await expect(clock.read()).rejects.toThrow('away');
    expect(clock.now() - Math.floor(server.now())).toBe(0);
  });
});

describe('keepReading', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });

  it('reads every five seconds, also after a failure, one reading at a time, until it is stopped', async () => {
    const readings: PromiseWithResolvers<void>[] = [];
    const stop = keepReading({
      read: () => {
        const reading = Promise.withResolvers<void>();
        readings.push(reading);
        return reading.promise;
      },
    });
    await vi.advanceTimersByTimeAsync(15_000);
    expect(readings).toHaveLength(1);
    readings[0]?.reject(new Error('away'));
    await vi.advanceTimersByTimeAsync(5_000);
    expect(readings).toHaveLength(2);
    readings[1]?.resolve();
    await vi.advanceTimersByTimeAsync(5_000);
    expect(readings).toHaveLength(3);
    readings[2]?.resolve();
    stop();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(readings).toHaveLength(3);
  });
});
