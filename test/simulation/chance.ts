export type Chance = {
  /** From 0, less than 1. */
  next(): number;
  /** A whole number below a bound. */
  below(bound: number): number;
  between(low: number, high: number): number;
  /** Between, evenly in the logarithm: milliseconds as often as days. */
  spread(low: number, high: number): number;
  happens(probability: number): boolean;
  pick<Each>(all: readonly Each[]): Each;
  bytes(size: number): Buffer;
  uuid(): string;
  /** Another one, which does not depend on how often this one is asked from now on. */
  fork(): Chance;
};

/** Chance that a seed decides: sfc32 by Chris Doty-Humphrey, of the public domain. */
export const chanceOf = (seed: number): Chance => {
  let [a, b, c, count] = [seed >>> 0, 0x9e3779b9, 0x243f6a88, 1];
  const next = (): number => {
    const sum = (a + b + count) | 0;
    count = (count + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return (sum >>> 0) / 2 ** 32;
  };
  for (let round = 0; round < 15; round += 1) next();
  const below = (bound: number): number => Math.floor(next() * bound);
  const bytes = (size: number): Buffer => Buffer.from(Array.from({ length: size }, () => below(256)));
  return {
    next,
    below,
    between: (low, high) => low + next() * (high - low),
    spread: (low, high) => low * (Math.max(high, low) / low) ** next(),
    happens: (probability) => next() < probability,
    pick<Each>(all: readonly Each[]): Each {
      return all[below(all.length)] as Each;
    },
    bytes,
    uuid() {
      const hex = bytes(16).toString('hex');
      const parts = [hex.slice(0, 8), hex.slice(8, 12), `4${hex.slice(13, 16)}`, `a${hex.slice(17, 20)}`];
      return [...parts, hex.slice(20)].join('-');
    },
    fork: () => chanceOf(below(2 ** 32)),
  };
};
