/**
 * Makes identifiers.
 * - makes ULIDs: 26 characters of Crockford's base 32
 * - never makes the same one twice
 * - makes them in ascending order, within a millisecond too
 * - keeps them ascending when the clock steps back
 */
export interface IdGenerator {
  next(): string;
}
