import { hash } from 'node:crypto';
import type { EndedSessions } from '../../application/ports/ended-sessions.ts';
import type { EventRepository } from '../../application/ports/event-repository.ts';
import type { UserRepository, UsersQuery } from '../../application/ports/user-repository.ts';
import { type Equal, type Records, type Stored, violates } from '../../application/storage/records.ts';
import {
  changeRow,
  findRow,
  insertOrChangeRow,
  purgeRows,
  removeRow,
  withoutVersion,
} from '../../application/storage/rows.ts';
import type { Tables } from '../../application/storage/tables.ts';
import { endedBy } from '../../domain/ended-session.ts';
import { duplicateUser } from '../../domain/errors/app-error.ts';
import {
  type AccountEvent,
  beyondKept,
  countedTogether,
  countingPeriodOf,
  type Device,
  EVENTS_KEPT,
} from '../../domain/event.ts';
import { type ComparableFields, canonicalEmail, canonicalUsername, type User } from '../../domain/user.ts';
import { inOrder } from './units.ts';
import { addDeliveries, webhooksFor } from './webhooks.ts';

type UserRow = Tables['users'];
type EventRow = Tables['events'];

const toUserRow = (user: User): UserRow => ({
  ...user,
  email: canonicalEmail(user.email),
  usernameKey: canonicalUsername(user.username),
});

export const toUser = ({ usernameKey: _key, version: _version, ...user }: UserRow & Partial<Stored<'users'>>): User =>
  user;

const namingDuplicate = (error: unknown): never => {
  if (violates(error, 'users_username')) throw duplicateUser('username', 'users_username');
  if (violates(error, 'users_email')) throw duplicateUser('email', 'users_email');
  throw error;
};

/** Both have a unique index, which finds how they begin. */
const NAMES = ['usernameKey', 'email'] as const;

/** What a user is found by, once: the first of the names that begin with the text. */
const foundBy = (row: UserRow, text: string): string | undefined =>
  NAMES.map((column) => row[column])
    .filter((name) => name.startsWith(text))
    .sort()[0];

/** Reads about as many rows as it returns, however many begin with the text. */
const listByBeginning = async (records: Records, text: string, { after, limit }: UsersQuery): Promise<User[]> => {
  const last = after === null ? null : await findRow(records, 'users', { id: after });
  const found: User[] = [];
  // From the beginning, if the last user of the page before is gone, or has other names.
  for (let from = last === null ? undefined : foundBy(last, text); ; ) {
    const pages = await Promise.all(
      NAMES.map(async (column) => {
        const range = [column, from === undefined ? '>=' : '>', from ?? text] as const;
        const rows = await records.list('users', { range, order: [column], limit });
        return rows.map((row) => ({ row, name: row[column] }));
      }),
    );
    /** Where the first full page ends: what comes behind may be on the next one. */
    const [end] = pages.flatMap((page) => page[limit - 1]?.name ?? []).sort();
    const complete = pages.flat().filter(({ name }) => end === undefined || name <= end);
    const once = complete.filter(({ row, name }) => name === foundBy(row, text));
    found.push(...once.toSorted((a, b) => (a.name < b.name ? -1 : 1)).map(({ row }) => toUser(row)));
    if (found.length >= limit || !end?.startsWith(text)) return found.slice(0, limit);
    from = end;
  }
};

/** A store that does not search reads so many at once. */
const ROWS_AT_ONCE = 1_000;
/** No index of parts of texts, which are of three characters, finds a shorter one. */
const SEARCHED_LENGTH = 3;

const listUsers = async (records: Records, query: UsersQuery): Promise<User[]> => {
  const { contains, after, newestFirst, skip, limit } = query;
  const text = contains?.toLowerCase() ?? '';
  if (text !== '' && [...text].length < SEARCHED_LENGTH) return listByBeginning(records, text, query);
  const page = (from: string | null, most: number) =>
    records.list('users', {
      ...(text !== '' && { contains: text }),
      ...(from !== null && { range: ['id', newestFirst ? '<' : '>', from] }),
      ...(skip !== undefined && { skip }),
      order: ['id'],
      descending: newestFirst,
      limit: most,
    });
  const found: User[] = [];
  for (let [from, most] = [after, limit]; ; most = ROWS_AT_ONCE) {
    const rows = await page(from, most);
    found.push(
      ...rows.filter(({ usernameKey, email }) => usernameKey.includes(text) || email.includes(text)).map(toUser),
    );
    if (found.length >= limit || rows.length < most) return found.slice(0, limit);
    from = rows.at(-1)?.id ?? null;
  }
};

const COMPARABLE: readonly string[] = [
  'username',
  'email',
  'emailVerifiedAt',
  'disabledAt',
  'secondFactorAt',
  'locale',
] satisfies (keyof ComparableFields)[];

export const userRepositoryOver = (records: Records): UserRepository => {
  const found = (row: UserRow | null): User | null => row && toUser(row);
  const findBy = async (equal: Equal<'users'>) => found(await findRow(records, 'users', equal));
  return {
    add: (user) => records.insert('users', toUserRow(user)).catch(namingDuplicate),
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
      // Programs in JavaScript: what is meant as a change would change nothing.
      const unknown = expected.find(([field]) => !COMPARABLE.includes(field));
      if (unknown !== undefined) throw new TypeError(`The field ${unknown[0]} of a user cannot be compared.`);
      const isExpected = (row: UserRow) => expected.every(([field, value]) => row[field as keyof UserRow] === value);
      const changed = changeRow(records, 'users', { id }, (row) =>
        isExpected(row) ? toUserRow({ ...row, ...change, updatedAt: now }) : null,
      );
      return found(await changed.catch(namingDuplicate));
    },
    lock: async (id) => found(await records.lock('users', { id })),
    async remove(id) {
      await removeRow(records, 'users', { id });
    },
    list: (query) => listUsers(records, query),
  };
};

/** More than are kept, so that the events of a user are not read and removed with each further one. */
const MOST_EVENTS = EVENTS_KEPT + 100;

/** Short, since a user agent may be long: 128 bits in base64url. */
const hashOf = ({ userAgent, address }: Device): string =>
  hash('sha256', JSON.stringify([userAgent, address]), 'base64url').slice(0, 22);

/** Log-ins on one device, and refused log-ins, are counted by the hour. */
const toEventRow = (event: AccountEvent): EventRow => {
  const isLogin = event.kind === 'logged-in';
  const device = isLogin || event.kind === 'registered' ? hashOf(event) : null;
  const isCounted = isLogin || event.kind === 'login-refused';
  const countedBy = isCounted ? `${event.kind} ${device ?? ''} ${countingPeriodOf(event.at)}` : null;
  return { ...event, device, countedBy };
};

const toEvent = ({ device: _device, countedBy: _by, version: _version, ...event }: Stored<'events'>): AccountEvent =>
  event;

const byId = (a: AccountEvent, b: AccountEvent): number => (a.id < b.id ? -1 : 1);

export const eventRepositoryOver = (
  records: Records,
  users: UserRepository = userRepositoryOver(records),
): EventRepository => {
  /** @returns whether there is one more row. */
  const store = async (row: EventRow): Promise<boolean> => {
    const { userId, countedBy } = row;
    let isNew = true;
    if (countedBy === null) await records.insert('events', row);
    else
      await insertOrChangeRow(records, 'events', { userId, countedBy }, 'events_counted', (counted) => {
        isNew = counted === null;
        return counted === null ? row : countedTogether<EventRow>(counted, row);
      });
    return isNew;
  };
  const addOf = async (userId: string, added: readonly AccountEvent[]): Promise<void> => {
    let isSurplus = false;
    for (const event of added) {
      const [last, isNew] = await inOrder(
        () => records.list('events', { equal: { userId }, skip: MOST_EVENTS - 1, limit: 1 }),
        () => store(toEventRow(event)),
      );
      isSurplus ||= isNew && last.length > 0;
    }
    if (isSurplus) await records.remove('events', beyondKept(await records.list('events', { equal: { userId } })));
  };

  /** @returns the events whose users are stored. */
  const addAll = async (events: readonly AccountEvent[]): Promise<readonly AccountEvent[]> => {
    const stored: AccountEvent[] = [];
    // In the order in which everybody locks several.
    for (const userId of [...new Set(events.map((event) => event.userId))].toSorted()) {
      // So that the user is not removed meanwhile, and transactions that add events of one user take turns.
      if ((await users.lock(userId)) === null) continue;
      const added = events.filter((event) => event.userId === userId);
      await addOf(userId, added);
      stored.push(...added);
    }
    return stored;
  };

  return {
    async add(events, isListed = true) {
      // The webhooks after the lock on the user: some may have been added while it was waited for.
      const [stored, webhooks] = await inOrder(
        () => addAll(events),
        () => webhooksFor(records, events),
      );
      for (const ended of isListed ? endedBy(events) : []) await records.insert('endedSessions', ended);
      await addDeliveries(records, stored, webhooks);
      for (const event of events) if (event.actor !== null) await records.insert('operations', { id: event.id, event });
    },
    async list({ userId, before, limit }) {
      const rows = await records.list('events', {
        equal: { userId },
        ...(before !== null && { range: ['id', '<', before] }),
        order: ['id'],
        descending: true,
        limit,
      });
      return rows.map(toEvent);
    },
    async listAll({ before, limit }) {
      const sameTime = (at: number) => records.list('events', { equal: { at } });
      const rest = await records.list('events', {
        ...(before !== null && { range: ['at', '<', before.at] }),
        order: ['at'],
        descending: true,
        limit,
      });
      // Of events at one time, the limit may have left out any.
      const last = rest.length < limit ? undefined : rest.at(-1);
      const rows = [
        ...(before === null ? [] : (await sameTime(before.at)).filter(({ id }) => id < before.id)),
        ...rest.filter(({ at }) => at !== last?.at),
        ...(last === undefined ? [] : await sameTime(last.at)),
      ];
      return rows
        .map(toEvent)
        .sort((a, b) => b.at - a.at || -byId(a, b))
        .slice(0, limit);
    },
    knowsDevice: async (userId, device) =>
      (await findRow(records, 'events', { userId, device: hashOf(device) })) !== null,
    countSince: async (userId, kind, since) =>
      (await records.list('events', { equal: { userId, kind }, range: ['at', '>=', since] })).length,
    purge: (before, limit) => purgeRows(records, 'events', { time: 'at', until: before - 1, limit }),
    async takeOperated(limit) {
      const removed = await records.remove('operations', await records.list('operations', { order: ['id'], limit }));
      return removed.map(({ event }) => event).sort(byId);
    },
  };
};

export const endedSessionsOver = (records: Records): EndedSessions => ({
  add: (ended) => records.insert('endedSessions', ended),
  async list(since, limit) {
    const order = ['at', 'id'] as const;
    const rows = await records.list('endedSessions', { range: ['at', '>=', since], order, descending: true, limit });
    return rows.map(withoutVersion);
  },
  purge: (until, limit) => purgeRows(records, 'endedSessions', { time: 'at', until, limit }),
});
