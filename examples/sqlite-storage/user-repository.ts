import type { DatabaseSync, SQLOutputValue } from 'node:sqlite';
import { canonicalEmail, type User, type UserRepository } from 'tandem';
import { inTransaction, translated } from './database.ts';

/** A row has the members of a user, but not its prototype. */
export const toUser = (row: Record<string, SQLOutputValue>): User => ({ ...row }) as User;

/** Users in the table `users`. */
export const sqliteUserRepository = (database: DatabaseSync): UserRepository => {
  const insert = database.prepare(`
    insert into users values (:id, :username, :email, :passwordHash, :createdAt, :updatedAt, :passwordChangedAt,
      :emailVerifiedAt, :disabledAt)`);
  const updateHash = database.prepare(`
    update users set
      passwordHash = :passwordHash,
      updatedAt = :now,
      passwordChangedAt = iif(:isOfNewPassword, :now, passwordChangedAt)
    where id = :id and (:replaces is null or passwordHash = :replaces)`);
  const select = database.prepare('select * from users where id = ?');
  const updateFields = database.prepare(`
    update users set
      username = :username,
      email = :email,
      emailVerifiedAt = :emailVerifiedAt,
      disabledAt = :disabledAt,
      updatedAt = :now
    where id = :id
    returning *`);
  const removeUser = database.prepare('delete from users where id = ?');

  const findBy = (column: 'id' | 'username' | 'email') => {
    const select = database.prepare(`select * from users where ${column} = ?`);
    return async (value: string): Promise<User | null> => {
      const row = await translated(() => select.get(value));
      return row === undefined ? null : toUser(row);
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
    async update(id, { now, ...change }, onlyIf = {}) {
      const row = await translated(() =>
        inTransaction(database, () => {
          const stored = select.get(id);
          const { email: expected = stored?.email, ...others } = onlyIf;
          const isAsExpected =
            stored?.email === canonicalEmail(String(expected)) &&
            Object.entries(others).every(([field, value]) => stored[field] === value);
          if (stored === undefined || !isAsExpected) return undefined;
          const { username, email, emailVerifiedAt, disabledAt } = { ...toUser(stored), ...change };
          return updateFields.get({ id, username, email: canonicalEmail(email), emailVerifiedAt, disabledAt, now });
        }),
      );
      return row === undefined ? null : toUser(row);
    },
    // A lock lasts until the end of a unit of work, which this example does not have.
    lock: async () => undefined,
    async remove(id) {
      await translated(() => removeUser.run(id));
    },
  };
};
