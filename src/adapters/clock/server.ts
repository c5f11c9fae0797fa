/** The clock of a server, extrapolated between readings by the monotonic clock of this process: steps of this machine's clock do not affect it. */
export type ServerClock = {
  /** The time on the server's clock, in epoch milliseconds, off by one round trip at most; before the first reading, that of this machine. */
  now(): number;
  read(): Promise<void>;
};

/** Milliseconds by which the server's clock is ahead of the monotonic one: a value between the two, as one reading has shown. */
type Reading = { readonly least: number; readonly most: number };

/** @param ask the server's clock, in epoch milliseconds. */
export const serverClock = (ask: () => Promise<number>): ServerClock => {
  let offset: number | null = null;
  return {
    now: () => Math.floor(offset === null ? Date.now() : offset + performance.now()),
    async read() {
      const before = performance.now();
      const time = await ask();
      const latest = { least: time - performance.now(), most: time - before };
      // What one reading leaves open, an earlier one may have shown: a slow response changes nothing that it does not disprove.
      offset = clamped(latest, offset ?? (latest.least + latest.most) / 2);
    },
  };
};

const clamped = ({ least, most }: Reading, value: number): number => Math.min(Math.max(value, least), most);

const READING_INTERVAL_MS = 5_000;

/**
 * Reads the clock again and again, one reading at a time. A reading that fails changes nothing: others report that the server is away.
 * @returns a function that stops it.
 */
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
