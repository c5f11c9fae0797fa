/** The clock of a server, extrapolated by the monotonic clock of this process. It does not change when the clock of this machine is set. */
export type ServerClock = {
  /** The server's time in epoch milliseconds, off by one round trip at most. Before the first reading, the time of this machine. */
  now(): number;
  read(): Promise<void>;
};

/** @param ask the server's clock, in epoch milliseconds. */
export const serverClock = (ask: () => Promise<number>): ServerClock => {
  /** By which the server's clock is ahead of the monotonic one. */
  let offset: number | null = null;
  return {
    now: () => Math.floor(offset === null ? Date.now() : offset + performance.now()),
    async read() {
      const before = performance.now();
      const time = await ask();
      const [least, most] = [time - performance.now(), time - before];
      // A reading changes the offset only if it disproves it. So one with a slow response, which is inexact, changes nothing.
      offset = Math.min(Math.max(offset ?? (least + most) / 2, least), most);
    },
  };
};

const READING_INTERVAL_MS = 5_000;

/** Reads the clock at intervals, one reading at a time. Failures are ignored here. @returns a function that stops it */
export const keepReading = ({ read }: Pick<ServerClock, 'read'>): (() => void) => {
  let isReading = false;
  const timer = setInterval(async () => {
    if (isReading) return;
    isReading = true;
    await read().catch(() => undefined);
    isReading = false;
  }, READING_INTERVAL_MS).unref();
  return () => clearInterval(timer);
};
