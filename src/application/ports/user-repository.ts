import type { ChangeableFields, ComparableFields, User } from '../../domain/user.ts';

type NewPasswordHash = {
  readonly passwordHash: string;
  /** `false` for a new hash of the same password. */
  readonly isOfNewPassword: boolean;
  readonly now: number;
  /** If set, the new hash is stored only if this hash is still the stored one. */
  readonly replaces?: string;
};

export type UsersQuery = {
  /** A text that the username or the email contains, in any letter case, or begins with if the text has one or two characters. `null` for all users. */
  readonly contains: string | null;
  /** The id of the last user of the page before; `null` for the first page. */
  readonly after: string | null;
  /** Whether the greatest ids come first. Users found by one or two characters are in the order of the names instead. */
  readonly newestFirst: boolean;
  /** How many of the first users are left out, if `contains` is `null`. Default: 0. */
  readonly skip?: number;
  readonly limit: number;
};

/** The new values of fields, and the time of the change in epoch milliseconds. */
export type UserChange = Partial<ChangeableFields> & { readonly now: number };

/**
 * Stores users. What holds for concurrent calls also holds for calls of several instances over one store.
 * - finds a user by id, by username and by email
 * - returns null for an unknown user
 * - returns the user that it locks, and null for an unknown one
 * - finds a username in any letter case, and returns it as it was registered
 * - finds an email in any letter case, and returns it in canonical form
 * - returns null for a name that cannot be stored
 * - rejects a second user with the same username or email, in any letter case, and names it
 * - rejects a second user with the same id
 * - distinguishes names that only resemble each other, also by their last character
 * - stores nothing of a rejected user
 * - accepts exactly one of many concurrent adds with the same username or email
 * - changes the password hash of a user, and the time of the update
 * - records when the password was last changed, but not for a new hash of the same password
 * - changes the hash only if the one to be replaced is still stored
 * - accepts exactly one of many concurrent replacements of the same hash
 * - changes the other fields, and the time of the update
 * - changes them only if the given ones still have their values
 * - frees the username and the email that a user gives up
 * - rejects a username or an email that another user has, names it, and changes nothing
 * - accepts exactly one of many concurrent changes to the same username or email
 * - accepts exactly one of many concurrent changes of the same value
 * - removes a user, so that the username and the email are free again
 * - changes and removes nothing when the user is unknown
 * - lists users in the order of their ids, either way, from one of them on
 * - lists those alone whose username or email has a text, in any letter case
 * - lists those alone whose username or email begins with one or two characters, in the order of these names, from one of them on
 * - rejects with DB_QUERY_FAILED alone when its store fails, and quotes nothing that is stored
 *
 * A call that rejected with DB_QUERY_FAILED may have changed the store, or not.
 *
 * @example
 * await users.add(user); // AUTH_USER_DUPLICATE if the username or the email is taken
 * const verified = await users.update(user.id, { emailVerifiedAt: now, now }, { email: user.email });
 * if (verified === null) throw new AppError('AUTH_LINK_INVALID'); // the user is gone, or has another email by now
 */
export interface UserRepository {
  /** @throws AppError `duplicateUser` when the username or email is taken, DB_UNIQUE_VIOLATION when the id is taken. */
  add(user: User): Promise<void>;
  findById(id: string): Promise<User | null>;
  findByUsername(username: string): Promise<User | null>;
  findByEmail(email: string): Promise<User | null>;
  /** @returns whether a user was changed. */
  setPasswordHash(id: string, hash: NewPasswordHash): Promise<boolean>;
  /**
   * Changes fields of a user.
   * @param onlyIf the values that fields must still have: otherwise nothing is changed. An email is compared in canonical form.
   * @returns the user as stored now; `null` when nothing was changed.
   * @throws AppError `duplicateUser` when another user has the username or email.
   */
  update(id: string, change: UserChange, onlyIf?: Partial<ComparableFields>): Promise<User | null>;
  /**
   * Reads a user, and locks them until the end of the transaction, as a change of the user does. Other transactions that lock or change the user, or
   * add an event or a session of the user, wait or are repeated, and then see the changes. So no log-in by an old password adds a session after a
   * change of the password has ended all. Other reads do not wait. Outside of a transaction, and in a store that runs them in turn, it only reads.
   * @returns the user as stored now.
   */
  lock(id: string): Promise<User | null>;
  /** Removes a user, with the rows of all tables whose rows belong to a user (`ofUser` in `TABLES`). */
  remove(id: string): Promise<void>;
  /** An adapter of an application may leave this method out. Then operators cannot list the users. */
  list?(query: UsersQuery): Promise<User[]>;
}
