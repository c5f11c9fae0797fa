/** Milliseconds after which the clock is read again, since the two that are compared here drift apart. */
const MAX_AGE = 10_000;

/** A server's own clock, followed without asking it each time. Steps of this machine's clock don't matter to it. */
export type ServerTime = {
  /**
   * When, by the server's clock, `budget` milliseconds since this call will have passed. It may come out too early, by as
   * much as a round trip takes, and never too late.
   * @returns epoch milliseconds, an integer.
   */
  after(budget: number): Promise<number>;
  /** Makes the next call ask: another server may answer now, or the same one may have set its clock. */
  forget(): void;
};

/** @param ask the server for its time, in epoch milliseconds. */
export const serverTime = (ask: () => Promise<number>): ServerTime => {
  let known: { readonly ahead: number; readonly at: number } | null = null;
  const learn = async () => {
    const time = await ask();
    const at = performance.now();
    return { ahead: time - at, at };
  };
  return {
    async after(budget) {
      const called = performance.now();
      if (known === null || called - known.at > MAX_AGE) known = await learn();
      return Math.floor(known.ahead + called + budget);
    },
    forget() {
      known = null;
    },
  };
};
