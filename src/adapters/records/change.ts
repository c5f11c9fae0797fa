import { AppError } from '../../domain/errors/app-error.ts';
import { type Equal, type Records, type Stored, violates } from './records.ts';
import { type Column, keyName, TABLES, type TableName, type Tables } from './tables.ts';

/** How often something is tried that others may do first. Each time, one of them has succeeded. */
const MOST_TRIES = 200;

/** Tries until there is a result: `undefined` means that somebody else was first. */
export const untilDone = async <Result>(attempt: () => Promise<Result | undefined>): Promise<Result> => {
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    const result = await attempt();
    if (result !== undefined) return result;
  }
  throw new AppError('DB_QUERY_FAILED', { reason: 'others have changed the same row again and again' });
};

export const findRow = async <Name extends TableName>(
  records: Records,
  table: Name,
  equal: Equal<Name>,
): Promise<Stored<Name> | null> => (await records.list(table, { equal, limit: 1 }))[0] ?? null;

/**
 * Changes the row with these values by a rule, whoever else changes it meanwhile.
 * @param rule returns the row after the change, or `null` to leave it.
 * @returns the row after the change; `null` if there is none, or the rule has left it.
 */
export const changeRow = <Name extends TableName>(
  records: Records,
  table: Name,
  equal: Equal<Name>,
  rule: (row: Stored<Name>) => Tables[Name] | null,
): Promise<Tables[Name] | null> =>
  untilDone(async () => {
    const before = await findRow(records, table, equal);
    const after = before && rule(before);
    if (before === null || after === null) return null;
    return (await records.replace(table, before, after)) ? after : undefined;
  });

/** Inserts a row. @returns whether it did; `false` if a row has the same values in this index. */
export const insertUnlessTaken = async <Name extends TableName>(
  records: Records,
  table: Name,
  row: Tables[Name],
  index: string,
): Promise<boolean> => {
  try {
    await records.insert(table, row);
    return true;
  } catch (error) {
    if (violates(error, index)) return false;
    throw error;
  }
};

/** Puts a row in the place of the one with its key, if there is one. @param key the values of the columns of the key. */
export const putRow = async <Name extends TableName>(
  records: Records,
  table: Name,
  key: Equal<Name>,
  row: Tables[Name],
): Promise<void> => {
  await untilDone(async () => {
    const before = await findRow(records, table, key);
    const isPut =
      before === null
        ? await insertUnlessTaken(records, table, row, keyName(TABLES[table]))
        : await records.replace(table, before, row);
    return isPut || undefined;
  });
};

/** Removes the row with these values, if it is as it has to be. @returns the row; `null` if there is no such row. One caller gets it. */
export const takeRow = <Name extends TableName>(
  records: Records,
  table: Name,
  equal: Equal<Name>,
  isMeant: (row: Stored<Name>) => boolean = () => true,
): Promise<Stored<Name> | null> =>
  untilDone(async () => {
    const row = await findRow(records, table, equal);
    if (row === null || !isMeant(row)) return null;
    return (await records.remove(table, [row]))[0];
  });

/** Removes all rows with these values that are meant, also those that others change meanwhile. @returns those that it removed. */
export const removeRows = async <Name extends TableName>(
  records: Records,
  table: Name,
  equal: Equal<Name>,
  isMeant: (row: Stored<Name>) => boolean = () => true,
): Promise<Stored<Name>[]> => {
  const removed: Stored<Name>[] = [];
  return untilDone(async () => {
    const rows = (await records.list(table, { equal })).filter(isMeant);
    if (rows.length === 0) return removed;
    const gone = await records.remove(table, rows);
    removed.push(...gone);
    return gone.length === rows.length ? removed : undefined;
  });
};

/** Removes rows whose time has come, the earliest first. @returns how many. */
export const purgeRows = async <Name extends TableName>(
  records: Records,
  table: Name,
  { time, until, limit }: { readonly time: Column<Name>; readonly until: number; readonly limit: number },
): Promise<number> => {
  const due = await records.list(table, { range: [time, '<=', until], order: [time], limit });
  return (await records.remove(table, due)).length;
};
