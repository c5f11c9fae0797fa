import type { Identity, IdentityKey } from '../../domain/identity.ts';

/**
 * Stores the identities that users have at OpenID providers.
 * - finds an identity by its issuer and its subject together
 * - rejects an identity that is stored, also of another user, with DB_UNIQUE_VIOLATION
 * - lists the identities of one user, the oldest first
 * - writes the time of a use, and the address that the provider has stated
 * - removes an identity of its user alone, and says so once
 */
export interface IdentityRepository {
  /** @throws AppError DB_UNIQUE_VIOLATION when the identity is stored; DB_QUERY_FAILED when the user is not. */
  add(identity: Identity): Promise<void>;
  find(key: IdentityKey): Promise<Identity | null>;
  listByUser(userId: string): Promise<Identity[]>;
  /** @returns whether there was such an identity. */
  recordUse(key: IdentityKey, email: string | null, now: number): Promise<boolean>;
  /** @returns the identity that was removed; `null` when the user has no such identity. */
  remove(key: Pick<Identity, 'id' | 'userId'>): Promise<Identity | null>;
}
