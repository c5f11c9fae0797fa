import { AppError } from '../../domain/errors/app-error.ts';
import type { User } from '../../domain/user.ts';
import type { UsersQuery } from '../ports/user-repository.ts';
import { pageOf } from '../service.ts';
import { allEvents } from '../storage/events.ts';
import type { Stores } from '../storage/stores.ts';

const listed = async ({ users }: Pick<Stores, 'users'>, query: UsersQuery): Promise<User[]> => {
  if (users.list === undefined)
    throw new AppError('SYS_UNEXPECTED_ERROR', {
      reason: 'the users of this storage cannot be listed: it has no `list`',
    });
  return users.list(query);
};

/** A page of the users. @returns `next`: what continues the list as `after`; `null` on the last page. */
export const listUsers = (deps: Pick<Stores, 'users'>) => async (query: Omit<UsersQuery, 'skip'>) => {
  const { page, last } = pageOf(await listed(deps, { ...query, limit: query.limit + 1 }), query.limit);
  return { users: page, next: last?.id ?? null };
};

const LONGEST_STEP = 2 ** 17;

/** How many users there are. No store has to count: it skips rows, in steps that get shorter at the end. */
export const countUsers = (deps: Pick<Stores, 'users'>) => async (): Promise<number> => {
  let [count, after]: [number, string | null] = [0, null];
  for (let step = LONGEST_STEP; step >= 1; ) {
    const query = { contains: null, after, newestFirst: false, skip: step - 1, limit: 1 };
    const [last] = await listed(deps, query);
    if (last === undefined) step /= 2;
    else [count, after] = [count + step, last.id];
  }
  return count;
};

const SEPARATOR = '-';

/** A page of the events of all users, the latest first. @param before `next` of the page before; `null` for the first page. */
export const listAllEvents =
  ({ records }: Pick<Stores, 'records'>) =>
  async ({ before, limit }: { readonly before: string | null; readonly limit: number }) => {
    const [at = '', id = ''] = before?.split(SEPARATOR) ?? [];
    const found = await allEvents(records, {
      before: before === null ? null : { at: Number(at), id },
      limit: limit + 1,
    });
    const { page, last } = pageOf(found, limit);
    return { events: page, next: last === undefined ? null : `${last.at}${SEPARATOR}${last.id}` };
  };
