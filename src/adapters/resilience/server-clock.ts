/** Milliseconds after which a deadline needs a new reading, since the two clocks drift apart. */
const MAX_AGE = 10_000;
/** Milliseconds of a round trip. */
const SLOW = 1_000;

/**
 * The clock of a server, extrapolated between readings by the monotonic clock of this process: steps of this machine's clock do not
 * affect it.
 */
export type ServerClock = {
  /** The time on the server's clock, in epoch milliseconds, off by one round trip at most; before the first reading, that of this machine. */
  now(): number;
  /**
   * The time on the server's clock `budget` milliseconds after this call. It may be early by one round trip, and is never late.
   * @returns epoch milliseconds, an integer.
   */
  deadlineIn(budget: number): Promise<number>;
  /** Reads the clock of the server. */
  read(): Promise<void>;
  /** Makes the next deadline read the clock, in case another server responds now or the clock was set. */
  forget(): void;
};

/** Milliseconds by which the server's clock is ahead of the monotonic one: a value between the two, as one reading has shown. */
type Reading = { readonly least: number; readonly most: number; readonly at: number };

/** @param ask the server's clock, in epoch milliseconds. */
export const serverClock = (ask: () => Promise<number>): ServerClock => {
  let reading: Reading | null = null;
  let offset: number | null = null;
  const read = async (): Promise<Reading> => {
    const before = performance.now();
    const time = await ask();
    const at = performance.now();
    const latest = { least: time - at, most: time - before, at };
    if (reading === null || !isSlow(latest) || at - reading.at > MAX_AGE || disproves(latest, reading))
      reading = latest;
    // What one reading leaves open, an earlier one may have shown: a slow response changes nothing that it does not disprove.
    offset = within(latest, offset ?? (latest.least + latest.most) / 2);
    return latest;
  };
  return {
    now: () => Math.floor(offset === null ? Date.now() : offset + performance.now()),
    async deadlineIn(budget) {
      const called = performance.now();
      const { least } = reading === null || called - reading.at > MAX_AGE ? await read() : reading;
      return Math.floor(least + called + budget);
    },
    async read() {
      await read();
    },
    forget() {
      reading = null;
    },
  };
};

/** Such a reading would make deadlines early by as much, although an earlier one is more precise. */
const isSlow = ({ least, most }: Reading): boolean => most - least > SLOW;

/** Whether the server's clock was set between two readings. */
const disproves = (latest: Reading, earlier: Reading): boolean =>
  latest.most < earlier.least || latest.least > earlier.most;

const within = ({ least, most }: Reading, value: number): number => Math.min(Math.max(value, least), most);

/** Milliseconds between two readings. Less than `MAX_AGE`, so that deadlines need none of their own. */
const INTERVAL = 5_000;

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
  }, INTERVAL).unref();
  return () => clearInterval(timer);
};
