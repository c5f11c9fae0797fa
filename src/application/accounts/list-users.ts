import { invalidField } from '../../domain/errors/app-error.ts';
import type { User } from '../../domain/user.ts';
import { filteredPage } from '../filtered-page.ts';
import type { UsersQuery } from '../ports/user-repository.ts';
import { allEvents, eventPlaceIn, eventPlaceOf, isEventPlace } from '../storage/events.ts';
import type { Stores } from '../storage/records.ts';
import { readUsers } from '../storage/rows.ts';

const USER_STATES: Readonly<Record<string, (user: User) => boolean>> = {
  disabled: ({ disabledAt }) => disabledAt !== null,
  unverified: ({ emailVerifiedAt }) => emailVerifiedAt === null,
  'second-factor': ({ secondFactorAt }) => secondFactorAt !== null,
};
const PROVIDER_PREFIX = 'provider:';
const LOGGED_IN = 'logged-in';

export const USER_FILTER = new RegExp(
  `^(?:${[...Object.keys(USER_STATES), LOGGED_IN].join('|')}|${PROVIDER_PREFIX}[\\w-]{1,80})$`,
);

const [MAX_ROWS, MAX_USERS] = [10_000, 1_000];

type ListQuery = Omit<UsersQuery, 'skip'> & {
  /** A text that `USER_FILTER` matches. Default: all users. */
  readonly only?: string | null | undefined;
};

/** A page of the users. @returns `next`: the value of `after` for the next page; `null` on the last page. */
export const listUsers = (deps: Pick<Stores, 'users' | 'records'>) => async (query: ListQuery) => {
  const { only } = query;
  const list = only === LOGGED_IN ? listByLogin : only?.startsWith(PROVIDER_PREFIX) ? listByProvider : listById;
  const { items, next } = await list(deps, query);
  return { users: items, next };
};

const listById = (deps: Pick<Stores, 'users'>, query: ListQuery) => {
  const { only = null, contains, newestFirst } = query;
  return filteredPage(
    {
      read: (after, limit) => readUsers(deps, { contains, newestFirst, after, limit }),
      placeOf: ({ id }) => id,
      itemOf: (user) => (only === null || USER_STATES[only]?.(user) ? user : null),
      maxRows: only === null ? undefined : MAX_ROWS,
    },
    query,
  );
};

const matchingUser = async ({ users }: Pick<Stores, 'users'>, id: string, contains: string | null) => {
  const user = await users.findById(id);
  const text = contains?.toLowerCase() ?? '';
  return user !== null && [user.username, user.email].some((name) => name.toLowerCase().includes(text)) ? user : null;
};

/** The users with an identity at a provider. The user of the newest identity comes first. */
const listByProvider = (deps: Pick<Stores, 'users' | 'records'>, query: ListQuery) => {
  const provider = query.only?.slice(PROVIDER_PREFIX.length) ?? '';
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
      itemOf: ({ userId }) => (isFirstTime(seen, userId) ? matchingUser(deps, userId, query.contains) : null),
      maxRows: query.contains === null ? undefined : MAX_USERS,
    },
    query,
  );
};

/** The users of the stored log-ins, the latest first. A user who has logged in several times may be on several pages. */
const listByLogin = (deps: Pick<Stores, 'users' | 'records'>, query: ListQuery) => {
  const seen = new Set<string>();
  if (query.after !== null && !isEventPlace(query.after))
    throw invalidField({ field: 'cursor', message: 'must be `next` of the page before', code: 'invalid_format' });
  return filteredPage(
    {
      read: (after, limit) => allEvents(deps.records, { before: eventPlaceIn(after), limit }),
      placeOf: eventPlaceOf,
      itemOf: ({ kind, userId }) =>
        kind === 'logged-in' && isFirstTime(seen, userId) ? matchingUser(deps, userId, query.contains) : null,
      maxRows: query.contains === null ? MAX_ROWS : MAX_USERS,
    },
    query,
  );
};

const isFirstTime = (seen: Set<string>, id: string): boolean => !seen.has(id) && seen.add(id).size > 0;
