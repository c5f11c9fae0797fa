import type { Passkey, PasskeyKey, PasskeyState } from '../../domain/passkey.ts';

/**
 * Stores the passkeys of users. What holds for concurrent calls also holds for calls of several instances over one store.
 * - finds a passkey by the id of its credential
 * - rejects a credential that is stored, also of another user, with DB_UNIQUE_VIOLATION
 * - lists the passkeys of one user, the oldest first
 * - writes what a use has shown, and its time
 * - never lowers a counter
 * - renames a passkey of its user alone
 * - removes a passkey of its user alone, and says so once
 */
export interface PasskeyRepository {
  /** @throws AppError DB_UNIQUE_VIOLATION when the credential is stored; DB_QUERY_FAILED when the user is not. */
  add(passkey: Passkey): Promise<void>;
  findByCredential(credentialId: string): Promise<Passkey | null>;
  listByUser(userId: string): Promise<Passkey[]>;
  /** @returns whether there was such a passkey. */
  recordUse(key: PasskeyKey, state: PasskeyState, now: number): Promise<boolean>;
  /** @returns the passkey as stored now; `null` when the user has no such passkey. */
  rename(key: PasskeyKey, name: string): Promise<Passkey | null>;
  /** @returns the passkey that was removed; `null` when the user has no such passkey. */
  remove(key: PasskeyKey): Promise<Passkey | null>;
}
