import { CompiledQuery } from 'kysely';
import { beforeAll, describe, expect, it } from 'vitest';
import { POSTGRESQL, SQLITE } from '../../../src/adapters/mikro-orm/dialects.ts';
import { selectRows, sqlTables } from '../../../src/adapters/mikro-orm/statements.ts';
import type { Query } from '../../../src/application/storage/records.ts';
import { type AnyTable, TABLES, type TableName, uniquesOf } from '../../../src/application/storage/tables.ts';
import { createDatabase, onPostgresql, openEmbedded, TEST_DATABASE_URL } from '../../support/storage/databases.ts';
import { type Database, openDatabase } from '../../support/storage/open-database.ts';

/** A query of any table, whose columns only `TABLES` knows. */
type AnyQuery = {
  readonly equal?: Readonly<Record<string, unknown>>;
  readonly range?: readonly [string, '<=', unknown];
  readonly order?: readonly string[];
  readonly limit?: number;
};

const valueFor = (table: AnyTable, column: string): unknown =>
  ({ text: 'a', integer: 1, boolean: true, json: '{}' })[(table.columns[column] ?? '').replace('?', '')];

/** What an index is for: all of its columns have values, all but the last, which is the order, or the first is in a range. */
const queriesOf = (table: AnyTable, columns: readonly string[]): readonly AnyQuery[] => {
  const equal = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, valueFor(table, name)]));
  const [first = '', last = ''] = [columns[0], columns.at(-1)];
  return [
    { equal: equal(columns) },
    { equal: equal(columns.slice(0, -1)), order: [last], limit: 10 },
    { range: [first, '<=', valueFor(table, first)], order: columns, limit: 10 },
  ];
};

const CASES = (Object.keys(TABLES) as TableName[]).flatMap((name) => {
  const table = TABLES[name];
  const indexes = [...uniquesOf(table), ...Object.entries(table.indexes ?? {})];
  return indexes.flatMap(([index, columns]) => queriesOf(table, columns).map((query) => ({ index, name, query })));
});

type Kind = {
  readonly on: string;
  readonly open: () => Promise<Database>;
  readonly dialect: typeof POSTGRESQL;
  readonly explain: string;
  /** Whether a line of a plan reads a whole table, or sorts. */
  readonly isSlow: RegExp;
};

/** One connection, with the setting of the service. A sort is planned only if no index has the order, however few rows there are. */
const openPlanning = async () => {
  const { url, drop } = await createDatabase(TEST_DATABASE_URL ?? '');
  const database = await openDatabase({ ...onPostgresql(url), poolSize: 1 }, { migrate: true });
  await database.em.execute('set enable_sort = off');
  return { ...database, close: () => database.close().finally(drop) };
};

const KINDS: readonly Kind[] = [
  {
    on: 'SQLite',
    open: openEmbedded,
    dialect: SQLITE,
    explain: 'explain query plan',
    isSlow: /SCAN (?!.* USING (?:COVERING )?INDEX )|TEMP B-TREE/,
  },
  ...(TEST_DATABASE_URL === undefined
    ? []
    : [{ on: 'PostgreSQL', open: openPlanning, dialect: POSTGRESQL, explain: 'explain', isSlow: /Seq Scan|Sort/ }]),
];

describe.each(KINDS)('on $on', ({ open, dialect, explain, isSlow }) => {
  let database: Database;
  beforeAll(async () => {
    database = await open();
    return database.close;
  });

  const planOf = async (name: TableName, query: AnyQuery): Promise<string> => {
    const db = database.em.getKysely();
    const { values, build } = selectRows(sqlTables('')(name), query as Query<TableName>, dialect, null);
    const { sql, parameters } = build(db, values).compile();
    const { rows } = await db.executeQuery(CompiledQuery.raw(`${explain} ${sql}`, [...parameters]));
    return JSON.stringify(rows);
  };

  it.each(CASES)('$index serves $query without a scan of the table, and without a sort', async ({ name, query }) => {
    expect(await planOf(name, query)).not.toMatch(isSlow);
  });

  it.each<AnyQuery>([{ equal: { passwordHash: 'a' } }, { order: ['createdAt'] }, { range: ['createdAt', '<=', 1] }])(
    '%j, which no index serves, is seen',
    async (query) => {
      expect(await planOf('users', query)).toMatch(isSlow);
    },
  );
});
