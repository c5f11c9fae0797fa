import type { User } from '../../domain/user.ts';

type NewPasswordHash = {
  readonly passwordHash: string;
  /** `false` for a new hash of the same password. */
  readonly isOfNewPassword: boolean;
  /** Epoch milliseconds. */
  readonly now: number;
  /** The hash that must still be stored, or else nothing is changed. Without it, the new hash is stored in any case. */
  readonly replaces?: string;
};

/**
 * Stores users.
 * - finds a user by id, by username and by email
 * - returns null for an unknown user
 * - finds a username in any letter case, and returns it as it was registered
 * - finds an email in any letter case
 * - returns null for a name that cannot be stored
 * - distinguishes an id from the same id with spaces around it
 * - rejects a second user with the same username, in any letter case
 * - rejects a second user with the same email, in any letter case
 * - rejects a second user with the same id
 * - stores nothing of a rejected user
 * - accepts exactly one of many concurrent adds with the same username
 * - changes the password hash of a user, and the time of the update
 * - records when the password was last changed, but not for a new hash of the same password
 * - changes the hash only if the one to be replaced is still stored
 * - returns false for an unknown user
 * - accepts exactly one of many concurrent replacements of the same hash
 * - removes a user, so that the username and the email are free again
 * - removes nothing when the user is unknown
 * - is not affected by changes to a user that it was given or has returned
 */
export interface UserRepository {
  /** @throws AppError AUTH_USER_DUPLICATE when the username or email is taken, DB_UNIQUE_VIOLATION when the id is. */
  add(user: User): Promise<void>;
  findById(id: string): Promise<User | null>;
  findByUsername(username: string): Promise<User | null>;
  findByEmail(email: string): Promise<User | null>;
  /** @returns whether a user was changed. */
  setPasswordHash(id: string, hash: NewPasswordHash): Promise<boolean>;
  /** Removes a user, and the user's sessions if they are in the same store. */
  remove(id: string): Promise<void>;
}
