/**
 * Turns passwords into hashes that tell nothing, and compares.
 * - verifies a password against its own hash
 * - refuses another password
 * - gives two hashes of one password that differ
 * - tells passwords apart that differ only in letter case, accents or composition
 * - refuses to hash a password that it could not tell from every other
 * - finds such a password wrong at the cost of a comparison
 * - finds every password wrong against no hash at the cost of a comparison
 * - tells a hash that costs less than its own from one that does not
 *
 * The two that hash throw AppError SYS_HTTP_UNEXPECTED_ERROR with status 503 when too many passwords wait already.
 */
export interface PasswordHasher {
  /** @throws RangeError for a password that is not hashable (domain/password.ts). */
  hash(password: string): Promise<string>;
  /** @param hash `null` when there is no such account: the answer is no, and takes as long. */
  verify(password: string, hash: string | null): Promise<boolean>;
  /** Whether the hash, one that a password was verified against, was made at a lower cost than is asked now. */
  needsRehash(hash: string): boolean;
}
