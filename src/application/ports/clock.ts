/**
 * The current time.
 * - returns epoch milliseconds as an integer
 */
export interface Clock {
  now(): number;
}
