/** What koa-ratelimit's memory driver keeps of a key. */
type Counter = { readonly reset: number };

/**
 * The counters of one tier in one process. The driver never forgets a key by itself; here the ones whose window is over go
 * when a new one comes, and beyond `capacity` the oldest go, so that a stranger with many addresses can't fill the memory.
 */
export class Counters extends Map<string, Counter> {
  readonly #capacity: number;

  constructor(capacity: number) {
    super();
    this.#capacity = capacity;
  }

  override set(key: string, counter: Counter): this {
    // Windows of a tier are equally long, so insertion order is the order in which they end.
    this.delete(key);
    this.#forget(Date.now() / 1000);
    return super.set(key, counter);
  }

  #forget(now: number): void {
    for (const [key, { reset }] of this) {
      if (reset > now && this.size < this.#capacity) return;
      this.delete(key);
    }
  }
}
