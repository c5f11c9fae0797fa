import type { Logger } from 'pino';
import { monotonicTime } from '../clock/system.ts';
import { type OutageMessages, outageLog } from '../log/lines.ts';

/** Counts requests, and keeps the counts of log-ins. Times are milliseconds. */
export type Counts = {
  /** Counts a request for a key. @returns how many there were in this window, which begins with the first of them, and the time left of it. */
  countRequest(key: string, window: number): Promise<{ readonly count: number; readonly left: number }>;
  /** Replaces the text of a key for `ttl`, if it is still the former one. Empty: there is none. @returns `null`, or the other text that is there. */
  replace(key: string, former: string, text: string, ttl: number): Promise<Count | null>;
};

/** What the keys of answers to requests begin with, which are kept beside the counts of log-ins. */
export const ANSWERS = 'tandem:answers:';
/** Bytes, with what an entry takes besides its text: 5,000 answers of 3,700 characters. */
const ANSWERS_CAPACITY = 20_000_000;
const bytesOf = (text: string): number => text.length + 300;

/** A text, and the time of its store when it was read. */
export type Count = { readonly text: string; readonly now: number };

type MemoryOptions = {
  /** Epoch milliseconds of a monotonic clock. */
  readonly now?: () => number;
  /** Keys of requests, and keys of log-ins: some 40 MB. */
  readonly capacity?: number;
};

/** Counts in this process: without Redis, and while others that count for several processes are unavailable. */
export const memoryCounts = ({ now = monotonicTime, capacity = 200_000 }: MemoryOptions = {}): Counts => {
  const requests = new BoundedMap<{ count: number }>(capacity);
  const texts = new BoundedMap<string>(capacity);
  // Of their own: anybody can cause one, and must not push out counts by it.
  const answers = new BoundedMap(ANSWERS_CAPACITY, bytesOf);
  return {
    async countRequest(key, window) {
      const at = now();
      const entry = requests.get(key, at) ?? requests.set(key, { count: 0 }, at, window);
      entry.value.count += 1;
      return { count: entry.value.count, left: entry.end - at };
    },
    async replace(key, former, text, ttl) {
      const at = now();
      const kept = key.startsWith(ANSWERS) ? answers : texts;
      const present = kept.get(key, at)?.value ?? '';
      if (present !== former) return { text: present, now: at };
      if (text === '') kept.delete(key);
      else kept.set(key, text, at, ttl);
      return null;
    },
  };
};

type Entry<Value> = { readonly value: Value; readonly end: number };

/** A new entry removes the oldest ones that have ended, and those beyond the capacity: a client with many addresses must not exhaust the memory. */
class BoundedMap<Value> {
  readonly #entries = new Map<string, Entry<Value>>();
  readonly #capacity: number;
  readonly #weigh: (value: Value) => number;
  #weight = 0;

  constructor(capacity: number, weigh: (value: Value) => number = () => 1) {
    this.#capacity = capacity;
    this.#weigh = weigh;
  }

  get(key: string, now: number): Entry<Value> | undefined {
    const entry = this.#entries.get(key);
    return entry !== undefined && entry.end > now ? entry : undefined;
  }

  delete(key: string): void {
    const entry = this.#entries.get(key);
    if (entry !== undefined) this.#weight -= this.#weigh(entry.value);
    this.#entries.delete(key);
  }

  set(key: string, value: Value, now: number, ttl: number): Entry<Value> {
    const entry = { value, end: now + ttl };
    this.delete(key);
    this.#entries.set(key, entry);
    this.#weight += this.#weigh(value);
    for (const [oldest, { end }] of this.#entries) {
      if (end > now && this.#weight <= this.#capacity) break;
      this.delete(oldest);
    }
    return entry;
  }
}

/** Milliseconds without calls after a failure, so that a store that hangs delays few requests. */
const PAUSE = 1_000;

export type SharedCounts = Counts & {
  /** Whether the process counts because the shared store is unavailable. */
  readonly isDegraded: () => boolean;
};

/**
 * Counts for several processes, and in `own` while the shared store is unavailable. Each change is logged once.
 * @param onFallback called for each call that `own` answers.
 */
export const sharedCounts = (
  { shared, own }: { readonly shared: Counts; readonly own: Counts },
  logger: Logger,
  messages: OutageMessages,
  onFallback = () => {},
): SharedCounts => {
  const outage = outageLog(logger, messages);
  let pausedUntil = 0;
  const call = async <Result>(
    work: (counts: Counts) => Promise<Result>,
    hasWritten: (result: Result) => boolean = () => true,
  ): Promise<Result> => {
    try {
      if (monotonicTime() >= pausedUntil) {
        const result = await work(shared);
        // A full Redis still reads.
        if (hasWritten(result)) outage.succeeded();
        return result;
      }
    } catch (error) {
      outage.failed(error);
      pausedUntil = monotonicTime() + PAUSE;
    }
    onFallback();
    return work(own);
  };
  return {
    countRequest: (...given) => call((counts) => counts.countRequest(...given)),
    replace: (...given) =>
      call(
        (counts) => counts.replace(...given),
        (other) => other === null,
      ),
    isDegraded: outage.isOut,
  };
};
