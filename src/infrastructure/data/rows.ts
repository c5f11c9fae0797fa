import type { Records, Stored } from '../../adapters/records/records.ts';
import { type Column, TABLES, type TableName } from '../../adapters/records/tables.ts';

/** Rows that are read and written at once. */
export const BATCH = 1000;

/** Every table, users first: the others refer to them. `Object.keys` is typed to return any strings. */
export const TABLE_NAMES = Object.keys(TABLES) as readonly TableName[];

/** How many rows each table has, by its name. */
export type RowCounts = Readonly<Partial<Record<TableName, number>>>;

type Source = Pick<Records, 'list'>;

/** All rows of a table in the order of its key. Reads them in batches, each by the index of the key. */
export async function* rowsOf<Name extends TableName>(records: Source, table: Name): AsyncGenerator<Stored<Name>> {
  for (let batch = await firstRows(records, table); batch.length > 0; ) {
    yield* batch;
    batch = await rowsAfter(records, table, batch.at(-1) as Stored<Name>);
  }
}

/** The columns of a key are texts or integers, and never `null`. */
const keyOf = <Name extends TableName>(table: Name) => TABLES[table].key as readonly Column<Name>[];

const firstRows = <Name extends TableName>(records: Source, table: Name) =>
  records.list(table, { order: keyOf(table), limit: BATCH });

/**
 * The next rows: those that have all but the last column of the key in common with a row, and are beyond it in that one. If there are none,
 * those that have all but the last two in common, and so on.
 */
const rowsAfter = async <Name extends TableName>(records: Source, table: Name, row: Stored<Name>) => {
  const key = keyOf(table);
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
