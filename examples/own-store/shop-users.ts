import {
  AppError,
  canonicalEmail,
  canonicalUsername,
  duplicateUser,
  isStorable,
  type User,
  type UserRepository,
  unstorable,
  violates,
} from 'tandem';
import type { Sql } from './records.ts';

/**
 * Customers as a shop has them. What Tandem needs are the last three columns: two names that nobody else has, and the whole user as JSON.
 * Everything else is the shop's, and may change at any time.
 */
export const CUSTOMERS = `
  create table if not exists public.customers (
    id text collate "C" primary key,
    points integer not null default 0,
    email text collate "C" not null constraint customers_email unique,
    login text collate "C" not null constraint customers_login unique,
    account text collate "C" not null
  )`;

const naming = (error: unknown): never => {
  if (violates(error, 'customers_login')) throw duplicateUser('username', 'customers_login');
  if (violates(error, 'customers_email')) throw duplicateUser('email', 'customers_email');
  throw error;
};

/** The users of the service in a table of the application's own, in place of the table `users` of the records. */
export const shopUsers = ({ send, rowLock }: Sql): UserRepository => {
  const readBy = async (column: 'id' | 'email' | 'login', value: string, lock = ''): Promise<string | null> => {
    if (!isStorable(value)) return null;
    const { rows } = await send(`select account from public.customers where ${column} = $1 ${lock}`, [value]);
    return rows[0] === undefined ? null : String(rows[0].account);
  };
  const toUser = (account: string | null): User | null => account && JSON.parse(account);
  const toRow = (user: User): string[] => {
    const row = [user.id, canonicalEmail(user.email), canonicalUsername(user.username)];
    if (!row.every(isStorable)) throw unstorable();
    return [...row, JSON.stringify({ ...user, email: canonicalEmail(user.email) })];
  };
  /** Changes a user by a rule. If others have changed them meanwhile, the rule is applied to what they have left. */
  const change = async (id: string, rule: (user: User) => User | null): Promise<User | null> => {
    for (let tries = 0; tries < 200; tries += 1) {
      const before = await readBy('id', id);
      const after = before && rule(JSON.parse(before));
      if (before === null || after === null || after === '') return null;
      const row = toRow(after);
      const update = 'update public.customers set email = $2, login = $3, account = $4 where id = $1 and account = $5';
      const { rowCount } = await send(update, [...row, before]).catch(naming);
      if (rowCount === 1) return toUser(row[3] ?? null);
    }
    throw new AppError('DB_QUERY_FAILED', { reason: 'others have changed the same user again and again' });
  };
  return {
    async add(user) {
      const insert = 'insert into public.customers (id, email, login, account) values ($1, $2, $3, $4)';
      await send(insert, toRow(user)).catch(naming);
    },
    findById: async (id) => toUser(await readBy('id', id)),
    findByUsername: async (username) => toUser(await readBy('login', canonicalUsername(username))),
    findByEmail: async (email) => toUser(await readBy('email', canonicalEmail(email))),
    async setPasswordHash(id, { passwordHash, isOfNewPassword, now, replaces }) {
      const changed = await change(id, (user) => {
        if (replaces !== undefined && user.passwordHash !== replaces) return null;
        return { ...user, passwordHash, updatedAt: now, ...(isOfNewPassword && { passwordChangedAt: now }) };
      });
      return changed !== null;
    },
    update: (id, { now, ...changes }, { email, ...others } = {}) =>
      change(id, (user) => {
        const expected = { ...others, ...(email !== undefined && { email: canonicalEmail(email) }) };
        const isExpected = Object.entries(expected).every(([member, value]) => user[member as keyof User] === value);
        return isExpected ? { ...user, ...changes, updatedAt: now } : null;
      }),
    lock: async (id) => toUser(await readBy('id', id, rowLock())),
    async remove(id) {
      if (isStorable(id)) await send('delete from public.customers where id = $1', [id]);
    },
  };
};
