import type { UserRepository } from '../../../src/application/ports/user-repository.ts';
import { AppError, duplicateUser } from '../../../src/domain/errors/app-error.ts';
import { type ComparableFields, canonicalEmail, canonicalUsername, type User } from '../../../src/domain/user.ts';
import { memoryTables, type Table, type Tables } from './tables.ts';

/** Keeps users in memory until the process ends. For tests and development. */
export const memoryUserRepository = (
  tables: Tables = memoryTables(),
): UserRepository & { has(id: string): boolean } => {
  const byId = tables.open<User>('users');
  const byUsername = tables.open<User>('users by username');
  const byEmail = tables.open<User>('users by email');
  const store = (user: User) => {
    byId.set(user.id, user);
    byUsername.set(canonicalUsername(user.username), user);
    byEmail.set(user.email, user);
  };
  const forget = (user: User) => {
    byId.delete(user.id);
    byUsername.delete(canonicalUsername(user.username));
    byEmail.delete(user.email);
  };
  const isTakenByAnother = (table: Table<User>, name: string, id: string): boolean =>
    table.has(name) && table.get(name)?.id !== id;
  const copy = (user: User | undefined): User | null => (user === undefined ? null : structuredClone(user));

  return {
    async add(user) {
      const username = canonicalUsername(user.username);
      const email = canonicalEmail(user.email);
      if (byId.has(user.id)) throw new AppError('DB_UNIQUE_VIOLATION');
      if (byUsername.has(username)) throw duplicateUser('username');
      if (byEmail.has(email)) throw duplicateUser('email');
      store({ ...structuredClone(user), email });
    },
    findById: async (id) => copy(byId.get(id)),
    findByUsername: async (username) => copy(byUsername.get(canonicalUsername(username))),
    findByEmail: async (email) => copy(byEmail.get(canonicalEmail(email))),
    async setPasswordHash(id, { passwordHash, isOfNewPassword, now, replaces }) {
      const user = byId.get(id);
      if (user === undefined || (replaces !== undefined && user.passwordHash !== replaces)) return false;
      const passwordChangedAt = isOfNewPassword ? now : user.passwordChangedAt;
      store({ ...user, passwordHash, updatedAt: now, passwordChangedAt });
      return true;
    },
    async update(id, { now, ...change }, onlyIf = {}) {
      const user = byId.get(id);
      if (user === undefined || !hasValues(user, onlyIf)) return null;
      const changed = {
        ...user,
        ...structuredClone(change),
        email: canonicalEmail(change.email ?? user.email),
        updatedAt: now,
      };
      if (isTakenByAnother(byUsername, canonicalUsername(changed.username), id)) throw duplicateUser('username');
      if (isTakenByAnother(byEmail, changed.email, id)) throw duplicateUser('email');
      forget(user);
      store(changed);
      return copy(changed);
    },
    lock: async (id) => copy(byId.get(id)),
    async remove(id) {
      const user = byId.get(id);
      if (user !== undefined) forget(user);
    },
    has: (id) => byId.has(id),
  };
};

const hasValues = (user: User, { email = user.email, ...others }: Partial<ComparableFields>): boolean =>
  user.email === canonicalEmail(email) &&
  Object.entries(others).every(([name, value]) => user[name as keyof typeof others] === value);
