export type Clock = {
  /** Epoch milliseconds, an integer. */
  now(): number;
};

export type IdGenerator = {
  /** A new ULID, greater than the last one of this generator, even within a millisecond or when the clock steps back. */
  next(): string;
};
