/**
 * Remembers values that may be used once, such as challenges, until they expire. What holds for concurrent calls also holds for calls of
 * several instances over one store.
 * - says of the first use of a value that it is the first, and of no other
 * - says so to exactly one of many concurrent users of a value
 * - purges expired values, and only those
 */
export interface UsedValues {
  /**
   * @param id of up to 200 printable ASCII characters.
   * @param expiresAt epoch milliseconds, from when on nobody accepts the value any more.
   * @returns whether this is the first use.
   */
  use(id: string, expiresAt: number): Promise<boolean>;
  purge(now: number, limit: number): Promise<number>;
}
