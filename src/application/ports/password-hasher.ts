/**
 * Hashes passwords and verifies them.
 * - verifies a password against its own hash
 * - rejects another password
 * - makes a different hash each time
 * - distinguishes passwords that differ only in letter case, accents or composition
 * - refuses to hash a password that would share its hash with others
 * - rejects such a password at the cost of a comparison
 * - rejects every password when there is no hash, at the cost of a comparison
 * - detects a hash that was made at a lower cost than its own
 *
 * `hash` and `verify` reject with AppError SYS_HTTP_UNEXPECTED_ERROR, status 503, when too many passwords are waiting.
 *
 * @example
 * const passwordHash = await hasher.hash('correct horse');
 * await hasher.verify('correct horse', passwordHash); // true
 * await hasher.verify('correct horse', null); // false, after the same time
 */
export interface PasswordHasher {
  /** @throws RangeError for a password that is not hashable (domain/password.ts). */
  hash(password: string): Promise<string>;
  /**
   * @param hash `null` when no hash is stored. Then the result is `false`, after the time of a comparison.
   * @param hidesMatch whether a right password has to take as long as a wrong one, which may be compared with other hashes, too.
   */
  verify(password: string, hash: string | null, hidesMatch?: boolean): Promise<boolean>;
  /** Whether a hash has another form, or a lower cost, than `hash` gives it. @param hash one that a password has been verified against. */
  needsRehash(hash: string): boolean;
}
