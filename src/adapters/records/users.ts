import type { UserRepository, UsersQuery } from '../../application/ports/user-repository.ts';
import { type Equal, type Records, type Stored, violates } from '../../application/storage/records.ts';
import { changeRow, findStored, removeRow } from '../../application/storage/rows.ts';
import type { Tables } from '../../application/storage/tables.ts';
import { duplicateUser } from '../../domain/errors/app-error.ts';
import { type ComparableFields, canonicalEmail, canonicalUsername, type User } from '../../domain/user.ts';

type UserRow = Tables['users'];

const toUserRow = (user: User): UserRow => ({
  ...user,
  email: canonicalEmail(user.email),
  usernameKey: canonicalUsername(user.username),
});

export const toUser = ({ usernameKey: _key, version: _version, ...user }: UserRow & Partial<Stored<'users'>>): User =>
  user;

const throwDuplicateUser = (error: unknown): never => {
  if (violates(error, 'users_username')) throw duplicateUser('username', 'users_username');
  if (violates(error, 'users_email')) throw duplicateUser('email', 'users_email');
  throw error;
};

/** The columns that a search for users compares. Each has a unique index. */
const SEARCHED_COLUMNS = ['usernameKey', 'email'] as const;

/** The name by which a user is listed: the first, in alphabetical order, of the names that begin with the text. */
const listedName = (row: UserRow, text: string): string | undefined =>
  SEARCHED_COLUMNS.map((column) => row[column])
    .filter((name) => name.startsWith(text))
    .sort()[0];

/** Lists the users with a name that begins with the text, in the order of these names, by the indexes. */
const listByBeginning = async (records: Records, text: string, { after, limit }: UsersQuery): Promise<User[]> => {
  const last = after === null ? null : await findStored(records, 'users', { id: after });
  const found: User[] = [];
  // The list starts again at the beginning if the user `after`, the last one of the former page, was removed, or has no such name any more.
  for (let from = last === null ? undefined : listedName(last, text); ; ) {
    const pages = await Promise.all(
      SEARCHED_COLUMNS.map(async (column) => {
        const range = [column, from === undefined ? '>=' : '>', from ?? text] as const;
        const rows = await records.list('users', { range, order: [column], limit });
        return rows.map((row) => ({ row, name: row[column] }));
      }),
    );
    // A full page has all names up to its last one. So both pages together have all names up to the first of their last names.
    const [end] = pages.flatMap((page) => page[limit - 1]?.name ?? []).sort();
    const completePart = pages.flat().filter(({ name }) => end === undefined || name <= end);
    const withoutDuplicates = completePart.filter(({ row, name }) => name === listedName(row, text));
    found.push(...withoutDuplicates.toSorted((a, b) => (a.name < b.name ? -1 : 1)).map(({ row }) => toUser(row)));
    if (found.length >= limit || !end?.startsWith(text)) return found.slice(0, limit);
    from = end;
  }
};

/** The size of all pages after the first one. Further pages are needed if the store ignores `contains`, since most rows do not match then. */
const ROWS_AT_ONCE = 1_000;
/** The search indexes consist of trigrams, and cannot find texts of one or two characters. */
const SEARCHED_LENGTH = 3;

const listUsers = async (records: Records, query: UsersQuery): Promise<User[]> => {
  const { contains, after, newestFirst, skip, limit } = query;
  const text = contains?.toLowerCase() ?? '';
  if (text !== '' && [...text].length < SEARCHED_LENGTH) return listByBeginning(records, text, query);
  const page = (from: string | null, size: number) =>
    records.list('users', {
      ...(text !== '' && { contains: text }),
      ...(from !== null && { range: ['id', newestFirst ? '<' : '>', from] }),
      ...(skip !== undefined && { skip }),
      order: ['id'],
      descending: newestFirst,
      limit: size,
    });
  const found: User[] = [];
  for (let [from, size] = [after, limit]; ; size = ROWS_AT_ONCE) {
    const rows = await page(from, size);
    found.push(
      ...rows.filter(({ usernameKey, email }) => usernameKey.includes(text) || email.includes(text)).map(toUser),
    );
    if (found.length >= limit || rows.length < size) return found.slice(0, limit);
    from = rows.at(-1)?.id ?? null;
  }
};

const COMPARABLE_FIELDS: readonly string[] = [
  'username',
  'email',
  'emailVerifiedAt',
  'disabledAt',
  'secondFactorAt',
  'locale',
] satisfies (keyof ComparableFields)[];

export const userRepositoryOver = (records: Records): UserRepository => {
  const toUserOrNull = (row: UserRow | null): User | null => row && toUser(row);
  const findBy = async (equal: Equal<'users'>) => toUserOrNull(await findStored(records, 'users', equal));
  return {
    add: (user) => records.insert('users', toUserRow(user)).catch(throwDuplicateUser),
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
      // TypeScript checks the names of fields, but an application may be written in JavaScript.
      const unknown = expected.find(([field]) => !COMPARABLE_FIELDS.includes(field));
      if (unknown !== undefined) throw new TypeError(`The field ${unknown[0]} of a user cannot be compared.`);
      const isExpected = (row: UserRow) => expected.every(([field, value]) => row[field as keyof UserRow] === value);
      const changed = changeRow(records, 'users', { id }, (row) =>
        isExpected(row) ? toUserRow({ ...row, ...change, updatedAt: now }) : null,
      );
      return toUserOrNull(await changed.catch(throwDuplicateUser));
    },
    lock: async (id) => toUserOrNull(await records.lock('users', { id })),
    async remove(id) {
      await removeRow(records, 'users', { id });
    },
    list: (query) => listUsers(records, query),
  };
};
