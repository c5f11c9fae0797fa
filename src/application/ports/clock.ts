export type Clock = {
  /** Epoch milliseconds, an integer. */
  now(): number;
};
