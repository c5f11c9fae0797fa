import type { UserRepository } from '../../../src/application/ports/user-repository.ts';
import { canonicalEmail, canonicalUsername } from '../../../src/domain/account.ts';
import { AppError } from '../../../src/domain/errors/app-error.ts';
import type { ChangeableFields, User } from '../../../src/domain/user.ts';
import { type Access, type Rows, translating } from '../harness/shared-rows.ts';

/** Whether a user has the username or the email of another. */
export const isTaken = (rows: Rows<User>, { id, username, email }: User): boolean =>
  rows
    .all()
    .filter((other) => other.id !== id)
    .some(
      (other) =>
        canonicalUsername(other.username) === canonicalUsername(username) ||
        canonicalEmail(other.email) === canonicalEmail(email),
    );

export const hasValues = (user: User, { email = user.email, ...others }: Partial<ChangeableFields>): boolean =>
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
        if (isTaken(rows, user)) throw new AppError('AUTH_USER_DUPLICATE');
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
        if (isTaken(rows, changed)) throw new AppError('AUTH_USER_DUPLICATE');
        rows.set(changed);
        return changed;
      }),
    lock: async () => undefined,
    remove: (id) => access((rows) => void rows.delete(id)),
  };
};
