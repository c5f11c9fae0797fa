import { AppError } from '../../domain/errors/app-error.ts';
import type { User } from '../../domain/user.ts';
import type { UsersQuery } from '../ports/user-repository.ts';
import { type Equal, type Query, type Records, type Stored, type Stores, violates } from './records.ts';
import { type Column, keyName, TABLES, type TableName, type Tables } from './tables.ts';

/** How many times a change is tried while others change the same row. */
const MAX_TRIES = 200;

/** Repeats an attempt until it succeeds. @param attempt `undefined` when a concurrent change came first. @throws AppError DB_QUERY_FAILED, or as `attempt` */
export const untilDone = async <Result>(attempt: () => Promise<Result | undefined>): Promise<Result> => {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const result = await attempt();
    if (result !== undefined) return result;
  }
  throw new AppError('DB_QUERY_FAILED', { reason: 'others have changed the same row again and again' });
};

export const withoutVersion = <Row extends object>({ version: _version, ...row }: Row & { readonly version: number }) =>
  row as unknown as Row;

export const omit = <Row extends object, Name extends keyof Row>(row: Row, ...names: readonly Name[]) =>
  Object.fromEntries(Object.entries(row).filter(([name]) => !names.some((each) => each === name))) as Omit<Row, Name>;

export const findStored = async <Name extends TableName>(
  records: Records,
  table: Name,
  equal: Equal<Name>,
): Promise<Stored<Name> | null> => (await records.list(table, { equal, limit: 1 }))[0] ?? null;

/** Reads rows without their versions. */
export const readRows = async <Name extends TableName>(records: Records, table: Name, query: Query<Name>) =>
  (await records.list(table, query)).map((row) => withoutVersion<Tables[Name]>(row));

export const readRow = async <Name extends TableName>(records: Records, table: Name, equal: Equal<Name>) =>
  (await readRows(records, table, { equal, limit: 1 }))[0] ?? null;

/**
 * Changes the row with these values by a rule, which is repeated if others change the row meanwhile.
 * @param rule returns the row after the change, or `null` to leave it.
 * @returns the row after the change; `null` if there is no row, or the rule has left it.
 */
export const changeRow = <Name extends TableName>(
  records: Records,
  table: Name,
  equal: Equal<Name>,
  rule: (row: Tables[Name]) => Tables[Name] | null,
): Promise<Tables[Name] | null> =>
  untilDone(async () => {
    const before = await findStored(records, table, equal);
    const after = before && rule(withoutVersion<Tables[Name]>(before));
    if (before === null || after === null) return null;
    return (await records.replace(table, before, after)) ? after : undefined;
  });

/**
 * Changes the row with these values by a rule, or inserts one. It reads first, since a violation fails a transaction.
 * @param rule gets `null` if there is no such row, and returns `null` to change nothing.
 * @param index the unique index of these values. Default: the key.
 * @returns whether it has changed or inserted the row.
 */
export const insertOrChangeRow = <Name extends TableName>(
  records: Records,
  table: Name,
  equal: Equal<Name>,
  rule: (row: Tables[Name] | null) => Tables[Name] | null,
  index = keyName(TABLES[table]),
): Promise<boolean> =>
  untilDone(async () => {
    const before = await findStored(records, table, equal);
    const after = rule(before);
    if (after === null) return false;
    try {
      if (before !== null) return (await records.replace(table, before, after)) || undefined;
      await records.insert(table, after);
      return true;
    } catch (error) {
      if (before === null && violates(error, index)) return undefined;
      throw error;
    }
  });

/** Inserts a row, unless there is a row with these values. @returns whether it has inserted the row. */
export const insertUnlessPresent = <Name extends TableName>(
  records: Records,
  table: Name,
  equal: Equal<Name>,
  row: Tables[Name],
  index?: string,
): Promise<boolean> => insertOrChangeRow(records, table, equal, (present) => (present === null ? row : null), index);

/** Removes the row with these values, if the condition holds. @returns the row, to one of several concurrent callers. */
export const removeRow = <Name extends TableName>(
  records: Records,
  table: Name,
  equal: Equal<Name>,
  condition: (row: Tables[Name]) => boolean = () => true,
): Promise<Tables[Name] | null> =>
  untilDone(async () => {
    const row = await findStored(records, table, equal);
    if (row === null || !condition(row)) return null;
    const [removed] = await records.remove(table, [row]);
    return removed && withoutVersion<Tables[Name]>(removed);
  });

/** Removes all rows with these values for which the condition holds. @returns those that no concurrent call has removed. */
export const removeRows = async <Name extends TableName>(
  records: Records,
  table: Name,
  equal: Equal<Name>,
  condition: (row: Tables[Name]) => boolean = () => true,
): Promise<Tables[Name][]> => {
  const all: Tables[Name][] = [];
  return untilDone(async () => {
    const rows = (await records.list(table, { equal })).filter(condition);
    const removed = await records.remove(table, rows);
    all.push(...removed);
    return removed.length === rows.length ? all : undefined;
  });
};

/** Removes up to `limit` rows whose time is `until` or before, the earliest first. @returns how many. */
export const purgeRows = async <Name extends TableName>(
  records: Records,
  table: Name,
  { time, until, limit }: { readonly time: Column<Name>; readonly until: number; readonly limit: number },
): Promise<number> => {
  const due = await records.list(table, { range: [time, '<=', until], order: [time], limit });
  return (await records.remove(table, due)).length;
};

export const ROWS_PER_BATCH = 1000;

export type Reader = Pick<Records, 'list'>;

/** All rows of a table in the order of its key. They are read in batches, by the index of the key. */
export async function* rowsOf<Name extends TableName>(records: Reader, table: Name): AsyncGenerator<Stored<Name>> {
  // The columns of a key are texts or integers, and never `null`.
  const key = TABLES[table].key as readonly Column<Name>[];
  for (let batch = await records.list(table, { order: key, limit: ROWS_PER_BATCH }); batch.length > 0; ) {
    yield* batch;
    batch = await rowsAfter(records, table, key, batch.at(-1) as Stored<Name>);
  }
}

/**
 * The rows after a row: those with the same values in all but the last column of the key, and a greater one there. If there are none, those with the
 * same values in all but the last two columns, and so on.
 */
const rowsAfter = async <Name extends TableName>(
  records: Reader,
  table: Name,
  key: readonly Column<Name>[],
  row: Stored<Name>,
) => {
  for (let prefix = key.length - 1; prefix >= 0; prefix -= 1) {
    const [column, ...others] = key.slice(prefix) as [Column<Name>, ...Column<Name>[]];
    const equal = Object.fromEntries(key.slice(0, prefix).map((each) => [each, row[each]]));
    const rows = await records.list(table, {
      equal: equal as Parameters<typeof records.list<Name>>[1]['equal'] & object,
      range: [column, '>', row[column] as string | number],
      order: [column, ...others],
      limit: ROWS_PER_BATCH,
    });
    if (rows.length > 0) return rows;
  }
  return [];
};

export const byId = (a: { readonly id: string }, b: { readonly id: string }): number => (a.id < b.id ? -1 : 1);

/** The users of rows, sorted: transactions that lock users in this order do not deadlock. */
export const usersInOrder = (rows: readonly { readonly userId: string }[]): string[] =>
  [...new Set(rows.map(({ userId }) => userId))].toSorted();

/** Makes two calls, in this order. In a unit, the second one is made before the first is answered. */
export const inOrder = async <First, Second>(
  { isUnit }: Records,
  first: () => Promise<First>,
  second: () => Promise<Second>,
): Promise<[First, Second]> => (isUnit ? Promise.all([first(), second()]) : [await first(), await second()]);

const LONGEST_STEP = 2 ** 17;

/**
 * Counts the rows of a store that cannot count them: it skips rows, in steps that get shorter at the end.
 * @param skipTo finds the id of the row that follows `after` and `skip` further rows; `undefined` if there is no such row.
 */
export const countRows = async (skipTo: (after: string | null, skip: number) => Promise<string | undefined>) => {
  let [count, after]: [number, string | null] = [0, null];
  for (let step = LONGEST_STEP; step >= 1; ) {
    const last = await skipTo(after, step - 1);
    if (last === undefined) step /= 2;
    else [count, after] = [count + step, last];
  }
  return count;
};

/** @throws AppError SYS_UNEXPECTED_ERROR if the storage cannot list users */
export const readUsers = async ({ users }: Pick<Stores, 'users'>, query: UsersQuery): Promise<User[]> => {
  if (users.list === undefined)
    throw new AppError('SYS_UNEXPECTED_ERROR', {
      reason: 'the users of this storage cannot be listed: it has no `list`',
    });
  return users.list(query);
};

export const countUsers = (deps: Pick<Stores, 'users'>): Promise<number> =>
  countRows(async (after, skip) => {
    const [last] = await readUsers(deps, { contains: null, after, newestFirst: false, skip, limit: 1 });
    return last?.id;
  });
