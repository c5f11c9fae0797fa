import type { Factor, FactorKey } from '../../domain/second-factor.ts';

/**
 * Stores the authenticator apps of users, and the hashes of their recovery codes. What holds for concurrent calls also holds for calls of
 * several instances over one store.
 * - lists the factors of one user, the oldest first
 * - uses a step of a factor of its user, unless it or a later one was used
 * - confirms a factor with its first step, and remembers when
 * - accepts exactly one of many concurrent uses of a step
 * - removes a factor of its user alone, and says so once
 * - replaces the recovery codes of one user, and lists their hashes
 * - uses a recovery code of its user once
 * - accepts exactly one of many concurrent uses of a recovery code
 * - changes an encrypted secret only if the given one is still stored
 * - lists the factors of all users in pages
 */
export interface FactorRepository {
  /** @throws AppError DB_UNIQUE_VIOLATION when the id is stored; DB_QUERY_FAILED when the user is not. */
  add(factor: Factor): Promise<void>;
  listByUser(userId: string): Promise<Factor[]>;
  /** Confirms the factor, if it is not. @returns whether the step was used now. */
  useStep(key: FactorKey, step: number, now: number): Promise<boolean>;
  /** @returns whether the user had such a factor. */
  remove(key: FactorKey): Promise<boolean>;
  /** In a transaction that has locked the user. */
  replaceCodes(userId: string, hashes: readonly string[]): Promise<void>;
  /** @returns whether the user had such a code. */
  useCode(userId: string, hash: string): Promise<boolean>;
  codesOf(userId: string): Promise<string[]>;
  /** @returns whether the secret was changed. */
  changeSecret(key: FactorKey, change: { readonly from: string; readonly to: string }): Promise<boolean>;
  /** @param after the id of the last factor of the page before; `''` for the first page. */
  listAll(after: string, limit: number): Promise<Factor[]>;
}
