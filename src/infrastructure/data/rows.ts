import { isDeepStrictEqual } from 'node:util';
import type { Stored } from '../../application/storage/records.ts';
import { type Reader, rowsOf, withoutVersion } from '../../application/storage/rows.ts';
import { TABLES, type TableName } from '../../application/storage/tables.ts';
import { CommandError } from '../command-error.ts';

/** Every table. `TABLES` begins with users, to which other tables refer. The cast: the type of `Object.keys` is `string[]`. */
export const TABLE_NAMES = Object.keys(TABLES) as readonly TableName[];

export type RowCounts = Readonly<Partial<Record<TableName, number>>>;

export type Databases = { readonly source: Reader; readonly target: Reader };

/** The number of rows of a table in the source, and how many of these rows the target has. */
export type Comparison = { readonly rows: number; readonly present: number };

/**
 * Reads the rows of a table from both databases in the order of the key, and compares all columns but the version.
 * @param onMissing called for each row that the target lacks, and awaited before the next row
 * @throws CommandError if the target has a row that the source lacks, or has with other values; AppError of a database
 */
export const compareRows = async <Name extends TableName>(
  table: Name,
  { source, target }: Databases,
  onMissing: (row: Stored<Name>) => unknown = () => undefined,
): Promise<Comparison> => {
  const others = rowsOf(target, table);
  const next = async () => (await others.next()).value as Stored<Name> | undefined;
  const hasSameKey = (a: Stored<Name>, b: Stored<Name>) =>
    TABLES[table].key.every((column) => Reflect.get(a, column) === Reflect.get(b, column));
  let [rows, present] = [0, 0];
  let other = await next();
  for await (const row of rowsOf(source, table)) {
    rows += 1;
    if (other !== undefined && hasSameKey(row, other)) {
      if (!isDeepStrictEqual(withoutVersion(row), withoutVersion(other))) throw foreignRowsError(table);
      present += 1;
      other = await next();
    } else await onMissing(row);
  }
  if (other !== undefined) throw foreignRowsError(table);
  return { rows, present };
};

const foreignRowsError = (table: TableName): CommandError =>
  new CommandError(
    'target-not-empty',
    `The target has rows in ${TABLES[table].name} that are not those of the source. Use an empty database: after an interrupted move, too, if the source has changed since.`,
  );
