import type { QueryResult } from 'kysely';
import type { Query, Records, Stored } from '../../application/storage/records.ts';
import { TABLES, type TableName } from '../../application/storage/tables.ts';
import { type Calls, firstVersion, isStorable, recordsOver, unstorable } from '../records/storage.ts';
import { innerSpan } from '../tracing/spans.ts';
import { errorTranslator, type SqlDialect } from './dialects.ts';
import { searchRows } from './search.ts';
import {
  builtStatements,
  type Connection,
  connectionOver,
  deleteRows,
  fromSql,
  insertRow,
  type Row,
  type RowLock,
  type Sql,
  type SqlTable,
  selectRows,
  sqlTables,
  type TableStatement,
  toRow,
  touchRow,
  updateRow,
} from './statements.ts';

const ROWS_AT_ONCE = 64;

/** Records over Kysely. @param prefix of the names of tables and indexes. @param declared the tables of the service and of the application */
export const mikroOrmRecords = (db: Sql, dialect: SqlDialect, prefix = '', declared = TABLES): Records => {
  const { withRetry, transact, system, pipelines } = dialect;
  const tables = sqlTables(prefix, declared);
  const [connection, sendBuilt] = [connectionOver(db), builtStatements(system)];
  const translateErrors = errorTranslator(dialect.failureOf);
  const sendOutside: SendStatement = (statement) =>
    translateErrors(() => withRetry(() => sendBuilt(connection, statement)), statement.table);
  const inTransaction =
    (transaction: Connection): SendStatement =>
    (statement) =>
      translateErrors(() => sendBuilt(transaction, statement), statement.table);
  return recordsOver(
    callsOver(sendOutside, tables, { ...dialect, rowLock: null }),
    (work) =>
      innerSpan('transaction', { 'db.system.name': system }, () =>
        translateErrors(() =>
          transact(db, (transaction) => work(callsOver(inTransaction(transaction), tables, dialect))),
        ),
      ),
    { pipelines },
  );
};

type SendStatement = (statement: TableStatement) => Promise<QueryResult<Row>>;

const callsOver = (send: SendStatement, tables: (name: TableName) => SqlTable, dialect: SqlDialect): Calls => {
  const { booleanToSql, rowLock, returnsDeleted, search } = dialect;
  const select = async <Name extends TableName>(
    name: Name,
    query: Query<Name>,
    lock: RowLock = null,
  ): Promise<Stored<Name>[]> => {
    if (![...Object.values(query.equal ?? {}), query.range?.[2], query.contains].every(isStorable)) return [];
    const table = tables(name);
    const isSearch = query.contains !== undefined && query.equal === undefined && table.search.length > 0;
    const statements = isSearch ? searchRows(table, query, search) : [selectRows(table, query, dialect, lock)];
    let found: readonly Row[] = [];
    for (const statement of statements) {
      found = (await send(statement)).rows;
      if (found.length >= (query.limit ?? Number.POSITIVE_INFINITY)) break;
    }
    return found.map((row) => toRow(table, row) as unknown as Stored<Name>);
  };
  /** For databases whose `delete` returns no rows: a statement for each row, whose number of deleted rows tells whether the row was deleted. */
  const removeEach = async <Each extends object>(table: SqlTable, rows: readonly Each[]): Promise<Each[]> => {
    const removed: Each[] = [];
    for (const row of rows)
      if (Number((await send(deleteRows(table, [row], false))).numAffectedRows) > 0) removed.push(row);
    return removed;
  };
  return {
    async insert(name, row) {
      const table = tables(name);
      assertStorable(table, row);
      await send(insertRow(table, { ...row, version: firstVersion() }, booleanToSql));
    },
    list: (name, query) => select(name, query),
    async replace(name, before, after) {
      const table = tables(name);
      assertStorable(table, after);
      const update = updateRow(table, before, { ...after, version: before.version + 1 }, booleanToSql);
      return Number((await send(update)).numAffectedRows) > 0;
    },
    async remove(name, rows) {
      const table = tables(name);
      if (!returnsDeleted) return removeEach(table, rows);
      const removed = new Set<string>();
      for (let from = 0; from < rows.length; from += ROWS_AT_ONCE) {
        const { rows: deleted } = await send(
          deleteRows(table, padToPowerOfTwo(rows.slice(from, from + ROWS_AT_ONCE)), true),
        );
        for (const row of deleted)
          removed.add(JSON.stringify(table.key.map((column) => fromSql(column, row[column.name]))));
      }
      return rows.filter((row) => removed.has(JSON.stringify(table.key.map(({ member }) => Reflect.get(row, member)))));
    },
    async lock(name, key) {
      if (rowLock === 'write' && Object.values(key).every(isStorable))
        await send(touchRow(tables(name), key, booleanToSql));
      return (await select(name, { equal: key }, rowLock))[0] ?? null;
    },
  };
};

/** Repeats the last row until the number of rows is a power of two, since each number is a statement of its own, which stays built. */
const padToPowerOfTwo = <Each>(rows: readonly Each[]): readonly Each[] => {
  const length = 2 ** Math.ceil(Math.log2(rows.length));
  return Array.from({ length }, (_, at) => rows[Math.min(at, rows.length - 1)] as Each);
};

const assertStorable = (table: SqlTable, row: object): void => {
  for (const { kind, member } of table.columns)
    if (kind === 'text' && !isStorable(Reflect.get(row, member))) throw unstorable();
};
