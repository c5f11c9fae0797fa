/** The clock of a server, extrapolated by the monotonic clock of this process. */
export type ServerClock = {
  /** The server's time in epoch milliseconds. Before the first `read`, it is the time of this machine. */
  now(): number;
  /** Asks the server for its time. Rejects if the server cannot be asked. */
  read(): Promise<void>;
};

export const serverClock = (askTime: () => Promise<number>): ServerClock => {
  /** Milliseconds by which the server's clock is ahead of `performance.now()`; `null` before the first reading. */
  let offset: number | null = null;
  return {
    now: () => Math.floor(offset === null ? Date.now() : offset + performance.now()),
    async read() {
      const before = performance.now();
      const time = await askTime();
      const [least, most] = [time - performance.now(), time - before];
      // The true offset is between `least` and `most`. If `offset` is there as well, it stays.
      offset = Math.min(Math.max(offset ?? (least + most) / 2, least), most);
    },
  };
};

const READING_INTERVAL_MS = 5_000;

/** Reads the server's clock every five seconds, one reading at a time, and ignores failures. @returns a function that ends the readings */
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
