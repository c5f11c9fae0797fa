/**
 * The current time.
 * - returns epoch milliseconds as an integer
 * - advances with the time
 *
 * @example
 * const systemClock: Clock = { now: () => Date.now() };
 */
export interface Clock {
  now(): number;
}
