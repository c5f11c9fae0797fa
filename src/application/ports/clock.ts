/**
 * Where time comes from.
 * - gives epoch milliseconds, as an integer
 */
export interface Clock {
  now(): number;
}
