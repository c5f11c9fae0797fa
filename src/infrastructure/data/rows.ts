import { isDeepStrictEqual } from 'node:util';
import type { Records, Stored } from '../../application/storage/records.ts';
import { withoutVersion } from '../../application/storage/rows.ts';
import { type Column, TABLES, type TableName } from '../../application/storage/tables.ts';
import { CommandError } from '../command-error.ts';

/** Rows that are read and written at once. */
export const BATCH = 1000;

/** Every table, users first, since the others refer to them. `Object.keys` is typed to return any strings. */
export const TABLE_NAMES = Object.keys(TABLES) as readonly TableName[];

export type RowCounts = Readonly<Partial<Record<TableName, number>>>;

export type Source = Pick<Records, 'list'>;
export type Databases = { readonly source: Source; readonly target: Source };

/** All rows of a table in the order of its key. They are read in batches, by the index of the key. */
export async function* rowsOf<Name extends TableName>(records: Source, table: Name): AsyncGenerator<Stored<Name>> {
  // The columns of a key are texts or integers, and never `null`.
  const key = TABLES[table].key as readonly Column<Name>[];
  for (let batch = await records.list(table, { order: key, limit: BATCH }); batch.length > 0; ) {
    yield* batch;
    batch = await rowsAfter(records, table, key, batch.at(-1) as Stored<Name>);
  }
}

/**
 * The rows after a row: those with the same values in all but the last column of the key, and a greater one there. If there are none, those with the
 * same values in all but the last two columns, and so on.
 */
const rowsAfter = async <Name extends TableName>(
  records: Source,
  table: Name,
  key: readonly Column<Name>[],
  row: Stored<Name>,
) => {
  for (let same = key.length - 1; same >= 0; same -= 1) {
    const [column, ...others] = key.slice(same) as [Column<Name>, ...Column<Name>[]];
    const equal = Object.fromEntries(key.slice(0, same).map((each) => [each, row[each]]));
    const rows = await records.list(table, {
      equal: equal as Parameters<typeof records.list<Name>>[1]['equal'] & object,
      range: [column, '>', row[column] as string | number],
      order: [column, ...others],
      limit: BATCH,
    });
    if (rows.length > 0) return rows;
  }
  return [];
};

/** `rows` of the source, of which the target has `present`. */
export type Compared = { readonly rows: number; readonly present: number };

/**
 * Reads the rows of a table from both sides in the order of the key, and compares all columns.
 * @param onMissing called for each row that the target does not have, before later rows are read
 * @throws CommandError when the target has a row that the source does not have
 */
export const compareRows = async <Name extends TableName>(
  table: Name,
  { source, target }: Databases,
  onMissing: (row: Stored<Name>) => unknown = () => undefined,
): Promise<Compared> => {
  const others = rowsOf(target, table);
  const next = async () => (await others.next()).value as Stored<Name> | undefined;
  const hasSameKey = (a: Stored<Name>, b: Stored<Name>) =>
    TABLES[table].key.every((column) => Reflect.get(a, column) === Reflect.get(b, column));
  let [rows, present] = [0, 0];
  let other = await next();
  for await (const row of rowsOf(source, table)) {
    rows += 1;
    if (other !== undefined && hasSameKey(row, other)) {
      if (!isDeepStrictEqual(withoutVersion(row), withoutVersion(other))) throw foreign(table);
      present += 1;
      other = await next();
    } else await onMissing(row);
  }
  if (other !== undefined) throw foreign(table);
  return { rows, present };
};

const foreign = (table: TableName): CommandError =>
  new CommandError(
    'target-not-empty',
    `The target has rows in ${TABLES[table].name} that are not those of the source. Use an empty database: after an interrupted move, too, if the source has changed since.`,
  );
