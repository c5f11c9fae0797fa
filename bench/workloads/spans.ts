import type { Span } from '../load/load.ts';

/** How long the workloads are measured. Milliseconds. */
export type Spans = Readonly<Record<'register' | 'logIn' | 'flood' | 'fast', Span>>;

export const FULL: Spans = {
  register: { warmUp: 1_000, duration: 4_000 },
  logIn: { warmUp: 1_000, duration: 5_000 },
  // The last of 64 who log in at once gets the first answer after two seconds.
  flood: { warmUp: 2_500, duration: 5_000 },
  fast: { warmUp: 1_000, duration: 3_000 },
};

export const QUICK: Spans = {
  register: { warmUp: 300, duration: 1_000 },
  logIn: { warmUp: 500, duration: 1_000 },
  flood: { warmUp: 1_000, duration: 1_500 },
  fast: { warmUp: 300, duration: 1_000 },
};
