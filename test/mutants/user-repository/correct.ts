import type { UserRepository } from '../../../src/application/ports/user-repository.ts';
import { AppError, duplicateUser } from '../../../src/domain/errors/app-error.ts';
import {
  type ChangeableFields,
  type ComparableFields,
  canonicalEmail,
  canonicalUsername,
  type User,
} from '../../../src/domain/user.ts';
import { type Access, type Rows, translating } from '../harness/shared-rows.ts';

/** What a user has that another user has, too. */
export const takenOf = (rows: Rows<User>, { id, username, email }: User): 'username' | 'email' | null => {
  const others = rows.all().filter((other) => other.id !== id);
  if (others.some((other) => canonicalUsername(other.username) === canonicalUsername(username))) return 'username';
  return others.some((other) => canonicalEmail(other.email) === canonicalEmail(email)) ? 'email' : null;
};

export const refuseTaken = (rows: Rows<User>, user: User): void => {
  const taken = takenOf(rows, user);
  if (taken !== null) throw duplicateUser(taken);
};

export const hasValues = (user: User, { email = user.email, ...others }: Partial<ComparableFields>): boolean =>
  user.email === canonicalEmail(email) &&
  Object.entries(others).every(([name, value]) => user[name as keyof typeof others] === value);

export const changedBy = (user: User, change: Partial<ChangeableFields>, now: number): User => ({
  ...user,
  ...change,
  email: canonicalEmail(change.email ?? user.email),
  updatedAt: now,
});

/** The mutants differ from this adapter in one fault each. */
export const correctUsers = (untranslated: Access<User>): UserRepository => {
  const access = translating(untranslated);
  const findBy = (matches: (user: User) => boolean): Promise<User | null> =>
    access((rows) => rows.all().find(matches) ?? null);
  return {
    add: (user) =>
      access((rows) => {
        if (rows.get(user.id) !== undefined) throw new AppError('DB_UNIQUE_VIOLATION');
        refuseTaken(rows, user);
        rows.set({ ...user, email: canonicalEmail(user.email) });
      }),
    findById: (id) => findBy((user) => user.id === id),
    findByUsername: (name) => findBy(({ username }) => canonicalUsername(username) === canonicalUsername(name)),
    findByEmail: (address) => findBy(({ email }) => email === canonicalEmail(address)),
    setPasswordHash: (id, { passwordHash, isOfNewPassword, now, replaces }) =>
      access((rows) => {
        const user = rows.get(id);
        if (user === undefined || (replaces !== undefined && user.passwordHash !== replaces)) return false;
        const passwordChangedAt = isOfNewPassword ? now : user.passwordChangedAt;
        rows.set({ ...user, passwordHash, updatedAt: now, passwordChangedAt });
        return true;
      }),
    update: (id, { now, ...change }, onlyIf = {}) =>
      access((rows) => {
        const user = rows.get(id);
        if (user === undefined || !hasValues(user, onlyIf)) return null;
        const changed = changedBy(user, change, now);
        refuseTaken(rows, changed);
        rows.set(changed);
        return changed;
      }),
    lock: (id) => findBy((user) => user.id === id),
    remove: (id) => access((rows) => void rows.delete(id)),
  };
};
