import type { User } from '../../domain/user.ts';

/**
 * Where users are kept.
 * - finds a user by id, by username and by email
 * - finds nobody where there is nobody
 * - finds a username in any letter case and shows it as it was written
 * - finds an email in any letter case
 * - finds nobody by a name that no storage could hold
 * - refuses a second user of one username, in any letter case
 * - refuses a second user of one email, in any letter case
 * - refuses a second user of one id
 * - keeps nothing of a user that it refused
 * - lets one of many concurrent adds of one username win
 * - stores nothing that is done to a user it was given or gave back
 */
export interface UserRepository {
  /** @throws AppError AUTH_USER_DUPLICATE for a taken username or email, DB_UNIQUE_VIOLATION for a taken id. */
  add(user: User): Promise<void>;
  findById(id: string): Promise<User | null>;
  findByUsername(username: string): Promise<User | null>;
  findByEmail(email: string): Promise<User | null>;
}
