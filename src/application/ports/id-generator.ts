/**
 * Makes identifiers.
 * - makes ULIDs: 26 characters of Crockford's base 32
 * - never makes the same id twice
 * - never makes an id that another generator makes
 * - makes ids in ascending order, even within a millisecond
 * - keeps the order when the clock steps back
 */
export interface IdGenerator {
  next(): string;
}
