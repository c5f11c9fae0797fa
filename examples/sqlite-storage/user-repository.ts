import type { SQLOutputValue } from 'node:sqlite';
import { canonicalEmail, type User, type UserRepository } from 'tandem';
import type { Connection } from './connection.ts';

/** A row has the members of a user, but not its prototype. The attributes are JSON. */
export const toUser = (row: Record<string, SQLOutputValue>): User =>
  ({ ...row, attributes: JSON.parse(String(row.attributes)) }) as User;

/** Users in the table `users`. */
export const sqliteUserRepository = ({ database, read, write }: Connection): UserRepository => {
  const insert = database.prepare(`
    insert into users values (:id, :username, :email, :passwordHash, :createdAt, :updatedAt, :passwordChangedAt,
      :emailVerifiedAt, :disabledAt, :secondFactorAt, :attributes, :locale)`);
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
      secondFactorAt = :secondFactorAt,
      attributes = :attributes,
      locale = :locale,
      updatedAt = :now
    where id = :id
    returning *`);
  const removeUser = database.prepare('delete from users where id = ?');

  const findBy = (column: 'id' | 'username' | 'email') => {
    const select = database.prepare(`select * from users where ${column} = ?`);
    return async (value: string): Promise<User | null> => {
      const row = await read(() => select.get(value));
      return row === undefined ? null : toUser(row);
    };
  };
  const findById = findBy('id');
  const findByEmail = findBy('email');

  return {
    async add(user) {
      const values = { ...user, email: canonicalEmail(user.email), attributes: JSON.stringify(user.attributes) };
      await write(() => insert.run(values));
    },
    findById,
    findByUsername: findBy('username'),
    findByEmail: (email) => findByEmail(canonicalEmail(email)),
    async setPasswordHash(id, { passwordHash, isOfNewPassword, now, replaces = null }) {
      const values = { id, passwordHash, isOfNewPassword: Number(isOfNewPassword), now, replaces };
      const { changes } = await write(() => updateHash.run(values));
      return changes > 0;
    },
    async update(id, { now, ...change }, onlyIf = {}) {
      const row = await write(() => {
        const stored = select.get(id);
        const { email: expected = stored?.email, ...others } = onlyIf;
        const isAsExpected =
          stored?.email === canonicalEmail(String(expected)) &&
          Object.entries(others).every(([field, value]) => stored[field] === value);
        if (stored === undefined || !isAsExpected) return undefined;
        const { username, email, ...fields } = { ...toUser(stored), ...change };
        const { emailVerifiedAt, disabledAt, secondFactorAt, locale } = fields;
        const values = { username, email: canonicalEmail(email), emailVerifiedAt, disabledAt, secondFactorAt, locale };
        return updateFields.get({ id, ...values, attributes: JSON.stringify(fields.attributes), now });
      });
      return row === undefined ? null : toUser(row);
    },
    // Units of work run one after the other.
    lock: findById,
    async remove(id) {
      await write(() => removeUser.run(id));
    },
  };
};
