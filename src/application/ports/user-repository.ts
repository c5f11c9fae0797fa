import type { User } from '../../domain/user.ts';

type NewPasswordHash = {
  readonly passwordHash: string;
  /** Whether it belongs to another password than the one before, and not to the same. */
  readonly isOfNewPassword: boolean;
  readonly now: number;
  /** The hash that has to be stored still. Without it the new one is stored in any case. */
  readonly replaces?: string;
};

/**
 * Where users are kept.
 * - finds a user by id, by username and by email
 * - finds nobody where there is nobody
 * - finds a username in any letter case and shows it as it was written
 * - finds an email in any letter case
 * - finds nobody by a name that no storage could hold
 * - takes no id for another one with blanks behind it
 * - refuses a second user of one username, in any letter case
 * - refuses a second user of one email, in any letter case
 * - refuses a second user of one id
 * - keeps nothing of a user that it refused
 * - lets one of many concurrent adds of one username win
 * - changes the password hash of a user, and when the user was updated
 * - tells when the password was changed last, which a new hash of the same one is not
 * - changes a hash only where the one it is to replace is stored
 * - says so when there is no such user
 * - lets one of many concurrent replacements of one hash win
 * - stores nothing that is done to a user it was given or gave back
 */
export interface UserRepository {
  /** @throws AppError AUTH_USER_DUPLICATE for a taken username or email, DB_UNIQUE_VIOLATION for a taken id. */
  add(user: User): Promise<void>;
  findById(id: string): Promise<User | null>;
  findByUsername(username: string): Promise<User | null>;
  findByEmail(email: string): Promise<User | null>;
  /** @returns whether anything was changed. */
  setPasswordHash(id: string, hash: NewPasswordHash): Promise<boolean>;
}
