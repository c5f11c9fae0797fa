import type { Clock } from '../../src/application/ports/clock-and-ids.ts';

export type FixedClock = Clock & {
  /** @param to epoch milliseconds; may be in the past. */
  set(to: number): void;
  /** @param by milliseconds. */
  advance(by: number): void;
};

/** A clock that is set by hand, for tests. */
export const fixedClock = (start: number): FixedClock => {
  let time = start;
  return {
    now: () => time,
    set: (to) => {
      time = to;
    },
    advance: (by) => {
      time += by;
    },
  };
};
