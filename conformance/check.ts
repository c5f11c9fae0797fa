import type { World } from './world.ts';

/** A check of one promise. It throws a `Mismatch` when the promise is broken, and `Skipped` when it cannot be checked. */
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
