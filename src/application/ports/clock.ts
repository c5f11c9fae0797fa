/**
 * The current time.
 * - returns epoch milliseconds as an integer
 * - advances with the time
 */
export interface Clock {
  now(): number;
}
