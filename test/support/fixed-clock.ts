import type { Clock } from '../../src/application/ports/clock-and-ids.ts';

export type FixedClock = Clock & {
  /** Sets the time. @param to epoch milliseconds, which may be earlier than the current time */
  set(to: number): void;
  /** Moves the time forward. @param by milliseconds */
  advance(by: number): void;
};

/** A clock whose time changes only when a test sets or advances it. */
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
