import type { Logger } from 'pino';
import { monotonicTime } from '../clock/system.ts';
import { type OutageMessages, outageLog } from '../log/lines.ts';

/** Counts requests, and stores texts, such as the state of log-in attempts. Durations are milliseconds. */
export type Counts = {
  /** @returns the number of requests in the current window, which has begun with the first of them, and the time until its end. */
  countRequest(key: string, window: number): Promise<{ readonly count: number; readonly left: number }>;
  /** Stores `text` for `ttl` if `former` is stored now; an empty text means no entry. @returns `null`, or the text that is stored instead of `former` */
  replace(key: string, former: string, text: string, ttl: number): Promise<StoredText | null>;
};

/** The prefix of the keys under which answers are stored, which repeated requests get as well. */
export const ANSWERS_PREFIX = 'tandem:answers:';
/** Bytes: 5,000 answers of 3,700 characters. */
const ANSWERS_CAPACITY = 20_000_000;
/** An entry takes some 300 bytes besides its text. */
const bytesOf = (text: string): number => text.length + 300;

/** A stored text, and the time by the clock of the store, in epoch milliseconds. */
export type StoredText = { readonly text: string; readonly now: number };

/**
 * Counts in the memory of this process, used without Redis and while Redis is unavailable.
 * @param options.capacity the greatest number of counted keys, and of stored texts that are no answers
 */
export const memoryCounts = ({ now = monotonicTime, capacity = 200_000 } = {}): Counts => {
  const requests = boundedMap<{ count: number }>(capacity);
  const texts = boundedMap<string>(capacity);
  // Clients can cause many answers. In a map of their own, answers do not displace the state of log-in attempts.
  const answers = boundedMap(ANSWERS_CAPACITY, bytesOf);
  return {
    async countRequest(key, window) {
      const at = now();
      const entry = requests.get(key, at) ?? requests.set(key, { count: 0 }, at, window);
      entry.value.count += 1;
      return { count: entry.value.count, left: entry.end - at };
    },
    async replace(key, former, text, ttl) {
      const at = now();
      const map = key.startsWith(ANSWERS_PREFIX) ? answers : texts;
      const present = map.get(key, at)?.value ?? '';
      if (present !== former) return { text: present, now: at };
      if (text === '') map.remove(key);
      else map.set(key, text, at, ttl);
      return null;
    },
  };
};

type Entry<Value> = { readonly value: Value; readonly end: number };

/** A map whose entries end after their `ttl`. A new entry removes the oldest ones that have ended or exceed `capacity`, so that the memory is bounded. */
const boundedMap = <Value>(capacity: number, weigh: (value: Value) => number = () => 1) => {
  const entries = new Map<string, Entry<Value>>();
  let weight = 0;
  const remove = (key: string): void => {
    const entry = entries.get(key);
    if (entry !== undefined) weight -= weigh(entry.value);
    entries.delete(key);
  };
  return {
    remove,
    get(key: string, now: number): Entry<Value> | undefined {
      const entry = entries.get(key);
      return entry !== undefined && entry.end > now ? entry : undefined;
    },
    set(key: string, value: Value, now: number, ttl: number): Entry<Value> {
      const entry = { value, end: now + ttl };
      remove(key);
      entries.set(key, entry);
      weight += weigh(value);
      for (const [oldest, { end }] of entries) {
        if (end > now && weight <= capacity) break;
        remove(oldest);
      }
      return entry;
    },
  };
};

/** Milliseconds for which the shared store is not called after a failure, so that a store that hangs delays few requests. */
const PAUSE_AFTER_FAILURE = 1_000;

export type SharedCounts = Counts & { readonly isDegraded: () => boolean };

/** Counts in `shared`, a store of all processes, and in `own` while `shared` is unavailable. @param onFallback called for each call that `own` answers */
export const sharedCounts = (
  { shared, own }: { readonly shared: Counts; readonly own: Counts },
  logger: Logger,
  messages: OutageMessages,
  onFallback = () => {},
): SharedCounts => {
  const outage = outageLog(logger, messages);
  let pausedUntil = 0;
  const withFallback = async <Result>(
    work: (counts: Counts) => Promise<Result>,
    hasWritten: (result: Result) => boolean = () => true,
  ): Promise<Result> => {
    try {
      if (monotonicTime() >= pausedUntil) {
        const result = await work(shared);
        // A full Redis still answers reads, so only a write proves that the store is available again.
        if (hasWritten(result)) outage.succeeded();
        return result;
      }
    } catch (error) {
      outage.failed(error);
      pausedUntil = monotonicTime() + PAUSE_AFTER_FAILURE;
    }
    onFallback();
    return work(own);
  };
  return {
    countRequest: (...given) => withFallback((counts) => counts.countRequest(...given)),
    replace: (...given) =>
      withFallback(
        (counts) => counts.replace(...given),
        (other) => other === null,
      ),
    isDegraded: outage.isOut,
  };
};
