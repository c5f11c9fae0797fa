import { AppError } from '../../domain/errors/app-error.ts';
import type { User } from '../../domain/user.ts';
import { filteredPage } from '../filtered-page.ts';
import type { UsersQuery } from '../ports/user-repository.ts';
import { allEvents, placeIn, placeOf } from '../storage/events.ts';
import type { Stores } from '../storage/records.ts';
import { countRows } from '../storage/rows.ts';

const STATES: Readonly<Record<string, (user: User) => boolean>> = {
  disabled: ({ disabledAt }) => disabledAt !== null,
  unverified: ({ emailVerifiedAt }) => emailVerifiedAt === null,
  'second-factor': ({ secondFactorAt }) => secondFactorAt !== null,
};
const OF_PROVIDER = 'provider:';
/** In the order of their last log-ins. */
const LOGGED_IN = 'logged-in';

export const USER_FILTER = new RegExp(
  `^(?:${[...Object.keys(STATES), LOGGED_IN].join('|')}|${OF_PROVIDER}[\\w-]{1,80})$`,
);

/** Rows that a page with a filter reads at most: of users or events, and of those whose user is another row. */
const [MOST_ROWS, MOST_USERS] = [10_000, 1_000];

type ListQuery = Omit<UsersQuery, 'skip'> & {
  /** One that `USER_FILTER` accepts. Default: all users. */
  readonly only?: string | null | undefined;
};

const listed = async ({ users }: Pick<Stores, 'users'>, query: UsersQuery): Promise<User[]> => {
  if (users.list === undefined)
    throw new AppError('SYS_UNEXPECTED_ERROR', {
      reason: 'the users of this storage cannot be listed: it has no `list`',
    });
  return users.list(query);
};

/** A page of the users. @returns `next`: what continues the list as `after`; `null` on the last page. */
export const listUsers = (deps: Pick<Stores, 'users' | 'records'>) => async (query: ListQuery) => {
  const { only } = query;
  const list = only === LOGGED_IN ? listByLogin : only?.startsWith(OF_PROVIDER) ? listByProvider : listById;
  const { items, next } = await list(deps, query);
  return { users: items, next };
};

const listById = (deps: Pick<Stores, 'users'>, query: ListQuery) => {
  const { only = null, contains, newestFirst } = query;
  return filteredPage(
    {
      read: (after, limit) => listed(deps, { contains, newestFirst, after, limit }),
      placeOf: ({ id }) => id,
      itemOf: (user) => (only === null || STATES[only]?.(user) ? user : null),
      mostRows: only === null ? undefined : MOST_ROWS,
    },
    query,
  );
};

/** The user, if their names contain the text. */
const named = async ({ users }: Pick<Stores, 'users'>, id: string, contains: string | null): Promise<User | null> => {
  const user = await users.findById(id);
  const text = contains?.toLowerCase() ?? '';
  return user !== null && [user.username, user.email].some((name) => name.toLowerCase().includes(text)) ? user : null;
};

/** Those whose identity was linked last come first. */
const listByProvider = (deps: Pick<Stores, 'users' | 'records'>, query: ListQuery) => {
  const provider = query.only?.slice(OF_PROVIDER.length) ?? '';
  const seen = new Set<string>();
  return filteredPage(
    {
      read: (after, limit) =>
        deps.records.list('identities', {
          equal: { provider },
          ...(after !== null && { range: ['id', '<', after] }),
          ...{ order: ['id'], descending: true, limit },
        }),
      placeOf: ({ id }) => id,
      itemOf: ({ userId }) => (isFirst(seen, userId) ? named(deps, userId, query.contains) : null),
      mostRows: query.contains === null ? undefined : MOST_USERS,
    },
    query,
  );
};

/** In the order of their last log-ins: a further page has users again who logged in several times. */
const listByLogin = (deps: Pick<Stores, 'users' | 'records'>, query: ListQuery) => {
  const seen = new Set<string>();
  return filteredPage(
    {
      read: (after, limit) => allEvents(deps.records, { before: placeIn(after), limit }),
      placeOf,
      itemOf: ({ kind, userId }) =>
        kind === 'logged-in' && isFirst(seen, userId) ? named(deps, userId, query.contains) : null,
      mostRows: query.contains === null ? MOST_ROWS : MOST_USERS,
    },
    query,
  );
};

const isFirst = (seen: Set<string>, id: string): boolean => !seen.has(id) && seen.add(id).size > 0;

export const countUsers = (deps: Pick<Stores, 'users'>) => (): Promise<number> =>
  countRows(async (after, skip) => {
    const [last] = await listed(deps, { contains: null, after, newestFirst: false, skip, limit: 1 });
    return last?.id;
  });
