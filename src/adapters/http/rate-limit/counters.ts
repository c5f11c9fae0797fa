/** What koa-ratelimit's memory driver keeps of a key. */
type Counter = {
  /** When its window is over: seconds of the driver's own clock, which is monotonic and not that of the system. */
  readonly reset: number;
};

type CountersOptions = {
  /** Milliseconds; the same for all keys. */
  readonly window: number;
  /** Keys counted at once. */
  readonly capacity: number;
};

/**
 * The counters of one tier in one process. The driver never forgets a key by itself; here the ones whose window is over go
 * when a new one comes, and beyond `capacity` the oldest go, so that a stranger with many addresses can't fill the memory.
 */
export class Counters extends Map<string, Counter> {
  readonly #window: number;
  readonly #capacity: number;
  /** Seconds by which the driver's clock is ahead of `performance.now()`. Both are monotonic, so it does not change. */
  #ahead = 0;

  constructor({ window, capacity }: CountersOptions) {
    super();
    this.#window = window / 1000;
    this.#capacity = capacity;
  }

  override set(key: string, counter: Counter): this {
    // A window begins when its counter is set, which tells the driver's time.
    const now = counter.reset - this.#window;
    this.#ahead = now - performance.now() / 1000;
    // Windows of a tier are equally long, so insertion order is the order in which they end.
    this.delete(key);
    this.#forget(now);
    return super.set(key, counter);
  }

  /** @param reset as the driver tells it, of any of its counters. */
  secondsUntil(reset: number): number {
    return reset - this.#ahead - performance.now() / 1000;
  }

  #forget(now: number): void {
    for (const [key, { reset }] of this) {
      if (reset > now && this.size < this.#capacity) return;
      this.delete(key);
    }
  }
}
