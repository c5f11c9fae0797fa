const SECOND = 1_000;
const DAY = 86_400 * SECOND;

/** A duration in words: `250 ms`, `30 s`, `7 days`. */
export const inWords = (milliseconds: number): string => {
  if (milliseconds < SECOND) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < 2 * DAY) return `${Number((milliseconds / SECOND).toFixed(1))} s`;
  return `${Number((milliseconds / DAY).toFixed(1))} days`;
};
