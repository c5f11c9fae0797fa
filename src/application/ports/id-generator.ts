/**
 * Makes identifiers.
 * - makes ULIDs: 26 characters of Crockford's base 32
 * - never makes the same id twice
 * - never makes an id that another generator makes
 * - makes ids in ascending order, even within a millisecond
 * - keeps the order when the clock steps back
 *
 * @example
 * const id = ids.next(); // '01M805M084GXA5E2JTR4FKH6WN'
 */
export interface IdGenerator {
  next(): string;
}
