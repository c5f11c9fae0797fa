import type { DatabaseSync } from 'node:sqlite';
import { canonicalEmail, type User, type UserRepository } from 'tandem';
import { translated } from './database.ts';

/** Users in the table `users`. */
export const sqliteUserRepository = (database: DatabaseSync): UserRepository => {
  const insert = database.prepare(`
    insert into users values (:id, :username, :email, :passwordHash, :createdAt, :updatedAt, :passwordChangedAt)`);
  const updateHash = database.prepare(`
    update users set
      passwordHash = :passwordHash,
      updatedAt = :now,
      passwordChangedAt = iif(:isOfNewPassword, :now, passwordChangedAt)
    where id = :id and (:replaces is null or passwordHash = :replaces)`);
  const removeUser = database.prepare('delete from users where id = ?');

  const findBy = (column: 'id' | 'username' | 'email') => {
    const select = database.prepare(`select * from users where ${column} = ?`);
    return async (value: string): Promise<User | null> => {
      const row = await translated(() => select.get(value));
      // A row has the members of a user, but not its prototype.
      return row === undefined ? null : ({ ...row } as User);
    };
  };
  const findByEmail = findBy('email');

  return {
    async add(user) {
      await translated(() => insert.run({ ...user, email: canonicalEmail(user.email) }));
    },
    findById: findBy('id'),
    findByUsername: findBy('username'),
    findByEmail: (email) => findByEmail(canonicalEmail(email)),
    async setPasswordHash(id, { passwordHash, isOfNewPassword, now, replaces = null }) {
      const values = { id, passwordHash, isOfNewPassword: Number(isOfNewPassword), now, replaces };
      const { changes } = await translated(() => updateHash.run(values));
      return changes > 0;
    },
    async remove(id) {
      await translated(() => removeUser.run(id));
    },
  };
};
