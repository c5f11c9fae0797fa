import { hash } from 'node:crypto';
import type { Compilable, CompiledQuery, ExpressionBuilder, Kysely, QueryResult, SelectQueryBuilder } from 'kysely';
import type { Query } from '../../application/storage/records.ts';
import {
  type AnyTable,
  keyName,
  nameInSql,
  TABLES,
  type TableName,
  uniquesOf,
} from '../../application/storage/tables.ts';
import { type Attributes, leafSpan } from '../tracing/spans.ts';

export type ValueKind = 'text' | 'integer' | 'boolean' | 'json';

export type SqlColumn = {
  /** The member of a row that the column stores. */
  readonly member: string;
  readonly name: string;
  readonly kind: ValueKind;
  readonly isNullable: boolean;
};

export const ROW_VERSION = 'version';

export const columnsOf = ({ columns }: AnyTable): readonly SqlColumn[] =>
  Object.entries(columns).map(([member, type]) => ({
    member,
    name: nameInSql(member),
    kind: type.replace('?', '') as ValueKind,
    isNullable: type.endsWith('?'),
  }));

export type BooleanToSql = (value: boolean) => unknown;

/** Converts a value of a row to the value that is passed to the driver for it. */
export const toSql = ({ kind }: SqlColumn, value: unknown, booleanToSql: BooleanToSql): unknown => {
  if (value === null) return null;
  if (kind === 'json') return JSON.stringify(value);
  return typeof value === 'boolean' ? booleanToSql(value) : value;
};

/** Converts a driver's value to the value of a row: some drivers return 64-bit integers as text, booleans as numbers, or texts as bytes of UTF-8. */
export const fromSql = ({ kind }: Pick<SqlColumn, 'kind'>, value: unknown): unknown => {
  if (value === null) return null;
  if (kind === 'json') return JSON.parse(String(value));
  if (kind === 'integer') return Number(value);
  return kind === 'boolean' ? Boolean(value) : String(value);
};

export type Row = Readonly<Record<string, unknown>>;
type Rows = Record<string, Record<string, unknown>>;
/** Kysely without the types of the tables: names and types come from `TABLES` instead. */
export type Sql = Kysely<Rows>;

/** Executes a statement. @param reads whether the statement only reads */
export type Execute = (query: CompiledQuery<Row>, reads: boolean) => Promise<QueryResult<Row>>;

/** The database, or the connection of a transaction, and how it executes statements. */
export type Connection = { readonly db: Sql; readonly execute: Execute };

export const connectionOver = (db: Sql): Connection => ({ db, execute: (query) => db.executeQuery(query) });

export type Send = (text: string, parameters?: readonly unknown[]) => Promise<Row[]>;

export type SqlTable = {
  readonly name: string;
  readonly key: readonly SqlColumn[];
  readonly columns: readonly SqlColumn[];
  readonly search: readonly SqlColumn[];
  readonly column: (member: string) => SqlColumn;
  /** Maps the names of unique indexes in errors of databases to the names in `TABLES`. SQLite's errors have the names of the columns instead. */
  readonly uniques: ReadonlyMap<string, string>;
};

const toSqlTable = (table: AnyTable, prefix: string): SqlTable => {
  const name = `${prefix}${table.name}`;
  const columns = columnsOf(table);
  const byMember = new Map(columns.map((column) => [column.member, column]));
  // The cast: callers name only members of the table.
  const column = (member: string) => byMember.get(member) as SqlColumn;
  const uniques = new Map<string, string>();
  for (const [index, members] of uniquesOf(table)) {
    uniques.set(`${prefix}${index}`, index);
    uniques.set(members.map((member) => `${name}.${column(member).name}`).join(', '), index);
  }
  // The name of the primary key of every table in MariaDB and MySQL.
  uniques.set('PRIMARY', keyName(table));
  const [key, search] = [table.key.map(column), (table.search ?? []).map(column)];
  return { name, key, columns, search, column, uniques };
};

/** The declared tables in SQL. @param prefix of the names of tables and indexes */
export const sqlTables = (prefix: string, tables = TABLES): ((name: TableName) => SqlTable) => {
  const byName = new Map(Object.entries(tables).map(([name, table]) => [name, toSqlTable(table, prefix)]));
  return (name) => byName.get(name) as SqlTable;
};

export const columnNamesOf = ({ columns }: SqlTable): string[] => [...columns.map(({ name }) => name), ROW_VERSION];

export const toRow = ({ columns }: SqlTable, row: Row): Row => {
  const read: Record<string, unknown> = {};
  for (const column of columns) read[column.member] = fromSql(column, row[column.name]);
  return { ...read, version: Number(row[ROW_VERSION]) };
};

export type Statement = {
  /** A key of the built statement: statements with the same shape differ only in their values. */
  readonly shape: string;
  readonly values: readonly unknown[];
  readonly build: (db: Sql, placeholders: readonly unknown[]) => Compilable<Row>;
};
export type TableStatement = Statement & { readonly table: SqlTable };

/** How a read locks its rows. `write` changes their version, since other nodes of a cluster do not see locks, but detect conflicting changes. */
export type RowLock = 'no key update' | 'update' | 'write' | null;

export type StatementDialect = {
  readonly booleanToSql: BooleanToSql;
  /**
   * Whether a query for a page compares its `equal` columns by `>=` and `<=` instead of `=`, and sorts by them first. With `=`, MariaDB would read all
   * rows before the beginning of the page.
   */
  readonly equalsAreRanges: boolean;
};

export const selectRows = <Name extends TableName>(
  table: SqlTable,
  { equal = {}, range, order = [], descending = false, skip, limit }: Query<Name>,
  { booleanToSql, equalsAreRanges }: StatementDialect,
  lock: RowLock,
): TableStatement => {
  const equalColumns = Object.entries(equal).map(([member, value]) => [table.column(member), value] as const);
  const columns = equalColumns.map(([{ name }]) => name);
  const values = equalColumns.map(([column, value]) => toSql(column, value, booleanToSql));
  const direction = descending ? 'desc' : 'asc';
  const isRange = equalsAreRanges && range !== undefined && order.length > 0;
  const sorted = [...(isRange ? columns : []), ...order.map((member) => table.column(member).name)];
  return {
    table,
    shape: JSON.stringify([
      ...['select', table.name, columns, range?.slice(0, 2), order, direction],
      ...[limit === undefined, skip === undefined, lock],
    ]),
    values: [...values, range?.[2], limit, skip],
    build: (db: Sql, placeholders: readonly unknown[]) => {
      const [bound, most, first] = placeholders.slice(columns.length) as [unknown, number, number];
      const selectColumns = (names: readonly string[]) => {
        let query = db.selectFrom(table.name).select(names);
        for (const [at, name] of columns.entries())
          query = isRange
            ? query.where(name, '>=', placeholders[at]).where(name, '<=', placeholders[at])
            : query.where(name, '=', placeholders[at]);
        if (range !== undefined) query = query.where(table.column(range[0]).name, range[1], bound);
        for (const name of sorted) query = query.orderBy(name, direction);
        if (limit !== undefined) query = query.limit(most);
        return skip === undefined ? query : query.offset(first);
      };
      if (skip !== undefined)
        return selectByKeys(db, table, selectColumns(table.key.map(({ name }) => name)), sorted, direction);
      const query = selectColumns(columnNamesOf(table));
      if (lock === 'update' || lock === 'write') return query.forUpdate();
      return lock === 'no key update' ? query.forNoKeyUpdate() : query;
    },
  };
};

/** Selects rows by a query for their keys. Where an index has the keys, the database need not read the rows that `skip` leaves out. */
const selectByKeys = (
  db: Sql,
  table: SqlTable,
  keys: SelectQueryBuilder<Rows, string, Rows[string]>,
  sorted: readonly string[],
  direction: 'asc' | 'desc',
) => {
  const inTable = (name: string) => `${table.name}.${name}`;
  let query = db
    .selectFrom(keys.as('place'))
    .innerJoin(table.name, (join) =>
      table.key.reduce((on, { name }) => on.onRef(`place.${name}`, '=', inTable(name)), join),
    )
    .select(columnNamesOf(table).map(inTable));
  for (const name of sorted) query = query.orderBy(inTable(name), direction);
  return query;
};

export const insertRow = (table: SqlTable, row: Row, booleanToSql: BooleanToSql): TableStatement => ({
  table,
  shape: `insert ${table.name}`,
  values: [...table.columns.map((column) => toSql(column, row[column.member], booleanToSql)), row[ROW_VERSION]],
  build: (db: Sql, placeholders: readonly unknown[]) =>
    db
      .insertInto(table.name)
      .values(Object.fromEntries(columnNamesOf(table).map((name, at) => [name, placeholders[at]]))),
});

/** Writes only the version and the columns whose values differ, if the row still has the version of `before`. */
export const updateRow = (table: SqlTable, before: Row, after: Row, booleanToSql: BooleanToSql): TableStatement => {
  const valueIn = (row: Row, column: SqlColumn) => toSql(column, row[column.member], booleanToSql);
  const changed = table.columns.filter((column) => valueIn(before, column) !== valueIn(after, column));
  const names = [...changed.map(({ name }) => name), ROW_VERSION];
  return {
    table,
    shape: JSON.stringify(['update', table.name, names]),
    values: [...changed.map((column) => valueIn(after, column)), after[ROW_VERSION], ...keyAndVersion(table, before)],
    build: (db: Sql, placeholders: readonly unknown[]) =>
      db
        .updateTable(table.name)
        .set(Object.fromEntries(names.map((name, at) => [name, placeholders[at]])))
        .where(isUnchangedRow(table, placeholders.slice(names.length))),
  };
};

/** Adds 1 to the version of a row, and changes no other column. */
export const touchRow = (table: SqlTable, key: Row, booleanToSql: BooleanToSql): TableStatement => {
  const columns = Object.keys(key).map(table.column);
  return {
    table,
    shape: JSON.stringify(['touch', table.name, columns.map(({ name }) => name)]),
    values: columns.map((column) => toSql(column, key[column.member], booleanToSql)),
    build: (db: Sql, placeholders: readonly unknown[]) =>
      db
        .updateTable(table.name)
        .set((eb) => ({ [ROW_VERSION]: eb(ROW_VERSION, '+', 1) }))
        .where((eb) => eb.and(columns.map(({ name }, at) => eb(name, '=', placeholders[at])))),
  };
};

/** Deletes the rows that still have the same version. @param isReturning whether the statement returns the keys of the deleted rows */
export const deleteRows = (table: SqlTable, rows: readonly object[], isReturning: boolean): TableStatement => {
  const length = table.key.length + 1;
  return {
    table,
    shape: `delete ${rows.length} ${table.name}`,
    values: rows.flatMap((row) => keyAndVersion(table, row)),
    build: (db: Sql, placeholders: readonly unknown[]): Compilable<Row> => {
      const query = db
        .deleteFrom(table.name)
        .where((eb) =>
          eb.or(rows.map((_, at) => isUnchangedRow(table, placeholders.slice(at * length, (at + 1) * length))(eb))),
        );
      return isReturning ? query.returning(table.key.map(({ name }) => name)) : query;
    },
  };
};

const keyAndVersion = ({ key }: SqlTable, row: object): unknown[] =>
  [...key.map(({ member }) => member), ROW_VERSION].map((member) => Reflect.get(row, member));

const isUnchangedRow =
  ({ key }: SqlTable, identity: readonly unknown[]) =>
  (eb: ExpressionBuilder<Rows, string>) =>
    eb.and([...key.map(({ name }, at) => eb(name, '=', identity[at])), eb(ROW_VERSION, '=', identity[key.length])]);

const statementNames = new Map<string, string>();

/** The name of a statement that `builtStatements` has built, and that may stay prepared; `undefined` for others. */
export const statementName = (text: string): string | undefined => statementNames.get(text);

/** Stands for the value with this index while a statement is built. */
class Placeholder extends Number {}

type BuiltStatement = {
  readonly query: CompiledQuery<Row>;
  readonly reads: boolean;
  readonly spanName: string;
  readonly attributes: Attributes;
};

/** Matches the operation and the table of a statement, for its span: in a statement that begins with `with`, those of its first `insert`. */
const OPERATION_AND_TABLE = /^(?:with\b.*?\b(?=insert ))?(\w+).*?(?<=\b(?:from|into|update) )["`](\w+)/s;

/**
 * Makes a function that sends statements. It builds each shape once, since building costs about as much time as sending. Requests choose among the shapes
 * that the code has, and cannot add others, so their number is bounded.
 */
export const builtStatements = (system: string) => {
  const built = new Map<string, BuiltStatement>();
  const compiled = (db: Sql, { shape, values, build }: Statement): BuiltStatement => {
    const known = built.get(shape);
    if (known !== undefined) return known;
    const placeholders = values.map((_, at) => new Placeholder(at));
    const query = build(db, placeholders).compile();
    statementNames.set(query.sql, `tandem_${hash('sha256', query.sql).slice(0, 16)}`);
    const [, operation = '', table = ''] = OPERATION_AND_TABLE.exec(query.sql) ?? [];
    const attributes = { 'db.system.name': system, 'db.operation.name': operation, 'db.collection.name': table };
    const statement = { query, reads: operation === 'select', spanName: `${operation} ${table}`, attributes };
    built.set(shape, statement);
    return statement;
  };
  return ({ db, execute }: Connection, statement: Statement): Promise<QueryResult<Row>> => {
    const { query, reads, spanName, attributes } = compiled(db, statement);
    const { values } = statement;
    const parameters = query.parameters.map((each) => (each instanceof Placeholder ? values[Number(each)] : each));
    return leafSpan(spanName, attributes, () => execute({ ...query, parameters }, reads));
  };
};
