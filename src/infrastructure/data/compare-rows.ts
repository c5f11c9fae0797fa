import { isDeepStrictEqual } from 'node:util';
import type { Records, Stored } from '../../adapters/records/records.ts';
import { TABLES, type TableName, type Tables } from '../../adapters/records/tables.ts';
import { CommandError } from '../command-error.ts';
import { rowsOf } from './rows.ts';

/** A row as it is inserted: the store gives it a version of its own. */
export const withoutVersion = <Name extends TableName>({ version: _version, ...row }: Stored<Name>): Tables[Name] =>
  row as unknown as Tables[Name];

/** What a target has of the rows of a table. */
export type Compared = {
  /** How many rows the source has. */
  readonly rows: number;
  /** How many of them the target has. */
  readonly present: number;
};

type Between = { readonly source: Pick<Records, 'list'>; readonly target: Pick<Records, 'list'> };

/**
 * Compares the rows of a table. Both are read in the order of the key, side by side. A row of the target is that of the source if all columns
 * are equal.
 * @param onMissing called for each row that the target has not, in the order of the key, before later rows are read.
 * @throws CommandError when the target has a row that the source has not.
 */
export const compareRows = async <Name extends TableName>(
  table: Name,
  { source, target }: Between,
  onMissing: (row: Stored<Name>) => unknown = () => undefined,
): Promise<Compared> => {
  const others = rowsOf(target, table);
  const next = async () => (await others.next()).value as Stored<Name> | undefined;
  let [rows, present] = [0, 0];
  let other = await next();
  for await (const row of rowsOf(source, table)) {
    rows += 1;
    if (other !== undefined && hasSameKey(table, row, other)) {
      if (!isDeepStrictEqual(withoutVersion(row), withoutVersion(other))) throw foreign(table);
      present += 1;
      other = await next();
    } else await onMissing(row);
  }
  if (other !== undefined) throw foreign(table);
  return { rows, present };
};

const hasSameKey = <Name extends TableName>(table: Name, a: Stored<Name>, b: Stored<Name>): boolean =>
  TABLES[table].key.every((column) => Reflect.get(a, column) === Reflect.get(b, column));

const foreign = (table: TableName): CommandError =>
  new CommandError(
    'target-not-empty',
    `The target has rows in ${TABLES[table].name} that are not those of the source. Use an empty database: after an interrupted move, too, if the source has changed since.`,
  );
