/** Chance that a seed decides: sfc32 by Chris Doty-Humphrey, of the public domain. */
export class Chance {
  /** From 0, less than 1. */
  readonly next: () => number;

  constructor(seed: number) {
    let [a, b, c, count] = [seed >>> 0, 0x9e3779b9, 0x243f6a88, 1];
    this.next = () => {
      const sum = (a + b + count) | 0;
      count = (count + 1) | 0;
      a = b ^ (b >>> 9);
      b = (c + (c << 3)) | 0;
      c = (((c << 21) | (c >>> 11)) + sum) | 0;
      return (sum >>> 0) / 2 ** 32;
    };
    for (let round = 0; round < 15; round += 1) this.next();
  }
  /** A whole number below a bound. */
  below = (bound: number): number => Math.floor(this.next() * bound);
  between = (low: number, high: number): number => low + this.next() * (high - low);
  /** Between, evenly in the logarithm: milliseconds as often as days. */
  spread = (low: number, high: number): number => low * (Math.max(high, low) / low) ** this.next();
  happens = (probability: number): boolean => this.next() < probability;
  pick = <Each>(all: readonly Each[]): Each => all[this.below(all.length)] as Each;
  bytes = (size: number): Buffer => Buffer.from(Array.from({ length: size }, () => this.below(256)));
  uuid = (): string =>
    this.bytes(16)
      .toString('hex')
      .replace(/^(.{8})(.{4}).(.{3}).(.{3})/, '$1-$2-4$3-a$4-');
  /** Another one, which does not depend on how often this one is asked from now on. */
  fork = (): Chance => new Chance(this.below(2 ** 32));
}
