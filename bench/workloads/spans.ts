import type { Span } from '../load/load.ts';

/** How long the workloads are measured. Milliseconds. */
export type Spans = Readonly<Record<'warmUp' | 'register' | 'logIn' | 'flood' | 'fast' | 'steady', Span>> & {
  /** How many requests come at least before those that are measured on one core, however slow the machine is. */
  readonly compiling: number;
};

export const FULL: Spans = {
  // About a thousand log-ins: before that, V8 still interprets and compiles much of what a log-in runs.
  warmUp: { warmUp: 0, duration: 45_000 },
  register: { warmUp: 1_000, duration: 4_000 },
  // After a pause, the first two seconds of log-ins cost more: V8 has given memory back, and caches have the code of others.
  logIn: { warmUp: 2_000, duration: 5_000 },
  // The last of 64 who log in at once gets the first answer after two seconds.
  flood: { warmUp: 2_500, duration: 5_000 },
  // Tens of thousands of requests, for the same reason.
  fast: { warmUp: 15_000, duration: 1_000 },
  // A turn of what is always busy: V8 has taken back the memory that it gave up in the pause before.
  steady: { warmUp: 1_500, duration: 2_500 },
  compiling: 30_000,
};

export const QUICK: Spans = {
  warmUp: { warmUp: 0, duration: 500 },
  register: { warmUp: 300, duration: 1_000 },
  logIn: { warmUp: 500, duration: 1_000 },
  flood: { warmUp: 1_000, duration: 1_500 },
  fast: { warmUp: 300, duration: 200 },
  steady: { warmUp: 100, duration: 200 },
  compiling: 0,
};
