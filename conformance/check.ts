import type { World } from './world.ts';

/** A check of one promise. It throws a `Mismatch` when the promise is broken, and `Skipped` when it cannot tell. */
export type Check = {
  readonly id: string;
  /** A heading of docs/specification.md and words below it; for the part `extended`, a decision record and its title. */
  readonly source: readonly [heading: string, words: string];
  /** What is checked, in a sentence. */
  readonly title: string;
  readonly run: (world: World) => Promise<void>;
};

/** The parts of the suite. The last two run on request only. */
export type Part = 'specification' | 'extended' | 'rate-limits';

/** The instance does not do what was expected. Both texts are made safe and short before they are printed. */
export class Mismatch extends Error {
  readonly expected: string;
  readonly got: string;

  constructor(expected: string, got: string) {
    super(`expected ${expected}`);
    this.expected = expected;
    this.got = got;
  }
}

/** The check needs something that this instance or this run does not have. */
export class Skipped extends Error {}
