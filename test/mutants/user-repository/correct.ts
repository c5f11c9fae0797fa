import type { UserRepository } from '../../../src/application/ports/user-repository.ts';
import { canonicalEmail, canonicalUsername } from '../../../src/domain/account.ts';
import { AppError } from '../../../src/domain/errors/app-error.ts';
import type { User } from '../../../src/domain/user.ts';
import { type Access, type Rows, translating } from '../harness/shared-rows.ts';

/** Whether a user has the username or the email of another. */
export const isTaken = (rows: Rows<User>, { username, email }: User): boolean =>
  rows
    .all()
    .some(
      (other) =>
        canonicalUsername(other.username) === canonicalUsername(username) ||
        canonicalEmail(other.email) === canonicalEmail(email),
    );

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
    remove: (id) => access((rows) => void rows.delete(id)),
  };
};
