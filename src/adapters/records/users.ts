import type { UserRepository } from '../../application/ports/user-repository.ts';
import { duplicateUser } from '../../domain/errors/app-error.ts';
import { canonicalEmail, canonicalUsername, type User } from '../../domain/user.ts';
import { changeRow, findRow, takeRow } from './change.ts';
import { type Equal, type Records, type Stored, violates } from './records.ts';
import type { Tables } from './tables.ts';

type Row = Tables['users'];

const toRow = (user: User): Row => ({
  ...user,
  email: canonicalEmail(user.email),
  usernameKey: canonicalUsername(user.username),
});

export const toUser = ({ usernameKey: _key, version: _version, ...user }: Row & Partial<Stored<'users'>>): User => user;

const naming = (error: unknown): never => {
  if (violates(error, 'users_username')) throw duplicateUser('username', 'users_username');
  if (violates(error, 'users_email')) throw duplicateUser('email', 'users_email');
  throw error;
};

export const userRepositoryOver = (records: Records): UserRepository => {
  const found = (row: Row | null): User | null => row && toUser(row);
  const findBy = async (equal: Equal<'users'>) => found(await findRow(records, 'users', equal));
  return {
    add: (user) => records.insert('users', toRow(user)).catch(naming),
    findById: (id) => findBy({ id }),
    findByUsername: (username) => findBy({ usernameKey: canonicalUsername(username) }),
    findByEmail: (email) => findBy({ email: canonicalEmail(email) }),
    async setPasswordHash(id, { passwordHash, isOfNewPassword, now, replaces }) {
      const changed = await changeRow(records, 'users', { id }, (row) => {
        if (replaces !== undefined && row.passwordHash !== replaces) return null;
        return { ...row, passwordHash, updatedAt: now, ...(isOfNewPassword && { passwordChangedAt: now }) };
      });
      return changed !== null;
    },
    async update(id, { now, ...change }, { email, ...others } = {}) {
      const expected = Object.entries({ ...others, ...(email !== undefined && { email: canonicalEmail(email) }) });
      const isExpected = (row: Row) => expected.every(([field, value]) => row[field as keyof Row] === value);
      const changed = changeRow(records, 'users', { id }, (row) =>
        isExpected(row) ? toRow({ ...row, ...change, updatedAt: now }) : null,
      );
      return found(await changed.catch(naming));
    },
    lock: async (id) => found(await records.lock('users', { id })),
    async remove(id) {
      await takeRow(records, 'users', { id });
    },
  };
};
