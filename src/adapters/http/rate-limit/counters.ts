/** The value that koa-ratelimit's memory driver stores for a key. */
type Counter = {
  /** The end of its window, in seconds of the driver's own monotonic clock. */
  readonly reset: number;
};

type CountersOptions = {
  /** Milliseconds; the same for all keys. */
  readonly window: number;
  /** Keys at once. */
  readonly capacity: number;
};

/**
 * The counters of one tier in one process. The driver never removes a key. So each new key removes those whose window has ended, and the
 * oldest beyond `capacity`: a client with many addresses must not exhaust the memory.
 */
export class Counters extends Map<string, Counter> {
  readonly #window: number;
  readonly #capacity: number;
  /** Seconds by which the driver's clock is ahead of `performance.now()`. Constant, since both are monotonic. */
  #ahead = 0;

  constructor({ window, capacity }: CountersOptions) {
    super();
    this.#window = window / 1000;
    this.#capacity = capacity;
  }

  /** Returns a copy: the driver changes it, and concurrent requests must not see each other's changes. */
  override get(key: string): Counter | undefined {
    const counter = super.get(key);
    if (counter === undefined) return undefined;
    const copy = { ...counter };
    super.set(key, copy);
    return copy;
  }

  override set(key: string, counter: Counter): this {
    // A counter is set when its window begins, so the driver's time follows from its end.
    const now = counter.reset - this.#window;
    this.#ahead = now - performance.now() / 1000;
    // The windows of a tier are equally long, so they end in insertion order.
    this.delete(key);
    this.#removeEnded(now);
    return super.set(key, counter);
  }

  /** @param reset of any counter of the driver. */
  secondsUntil(reset: number): number {
    return reset - this.#ahead - performance.now() / 1000;
  }

  #removeEnded(now: number): void {
    for (const [key, { reset }] of this) {
      if (reset > now && this.size < this.#capacity) return;
      this.delete(key);
    }
  }
}
