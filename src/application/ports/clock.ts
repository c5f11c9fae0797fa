/** Where time comes from. */
export interface Clock {
  /** Epoch milliseconds, an integer. */
  now(): number;
}
