import { hash } from 'node:crypto';
import type { Compilable, CompiledQuery, ExpressionBuilder, Kysely, QueryResult, SelectQueryBuilder } from 'kysely';
import type { Query } from '../../application/storage/records.ts';
import {
  type AnyTable,
  type ColumnType,
  keyName,
  nameInSql,
  TABLES,
  type TableName,
  uniquesOf,
} from '../../application/storage/tables.ts';
import { type Attributes, leafSpan } from '../tracing/spans.ts';

export type Kind = 'text' | 'integer' | 'boolean' | 'json';

/** A column of a table, in SQL. */
export type SqlColumn = {
  /** The name of the member of a row. */
  readonly member: string;
  /** The same in snake case. */
  readonly name: string;
  readonly kind: Kind;
  readonly isNullable: boolean;
};

export const VERSION = 'version';

const toColumn = ([member, type]: readonly [string, ColumnType]): SqlColumn => ({
  member,
  name: nameInSql(member),
  kind: type.replace('?', '') as Kind,
  isNullable: type.endsWith('?'),
});

export const columnsOf = ({ columns }: AnyTable): readonly SqlColumn[] => Object.entries(columns).map(toColumn);

/** What is sent for a value. `toBoolean` gives booleans as the driver takes them. */
export const toSql = ({ kind }: SqlColumn, value: unknown, toBoolean: (value: boolean) => unknown): unknown => {
  if (value === null) return null;
  if (kind === 'json') return JSON.stringify(value);
  return typeof value === 'boolean' ? toBoolean(value) : value;
};

/** The value of what a driver returns: an integer of 64 bits may be a text, a boolean a number, a text its bytes in UTF-8. */
export const fromSql = ({ kind }: Pick<SqlColumn, 'kind'>, value: unknown): unknown => {
  if (value === null) return null;
  if (kind === 'json') return JSON.parse(String(value));
  if (kind === 'integer') return Number(value);
  return kind === 'boolean' ? Boolean(value) : String(value);
};

type Rows = Record<string, Record<string, unknown>>;
/** The tables as Kysely sees them here: of names and values that only `TABLES` knows. */
export type Sql = Kysely<Rows>;

/** What carries out statements. @param reads whether the statement changes nothing. */
export type Execute = <Row>(query: CompiledQuery<Row>, reads: boolean) => Promise<QueryResult<Row>>;

/** Any connection, or that of a transaction. */
export type Connection = { readonly db: Sql; readonly execute: Execute };

type Row = Readonly<Record<string, unknown>>;

/** A table, and how its rows are sent and read. */
export type SqlTable = {
  readonly name: string;
  readonly key: readonly SqlColumn[];
  readonly columns: readonly SqlColumn[];
  readonly search: readonly SqlColumn[];
  readonly column: (member: string) => SqlColumn;
  /** The unique indexes in `TABLES` by what errors of databases call them: by their names, or by their columns. */
  readonly uniques: ReadonlyMap<string, string>;
};

const toSqlTable = (table: AnyTable, prefix: string): SqlTable => {
  const name = `${prefix}${table.name}`;
  const columns = columnsOf(table);
  const byMember = new Map(columns.map((column) => [column.member, column]));
  // Every member that is asked for is in `TABLES`: its types say so.
  const column = (member: string) => byMember.get(member) as SqlColumn;
  const uniques = uniquesOf(table).flatMap(([index, members]) => [
    [`${prefix}${index}`, index] as const,
    [members.map((member) => `${name}.${column(member).name}`).join(', '), index] as const,
    // MariaDB and MySQL give keys no name of their own.
    ...(index === keyName(table) ? [['PRIMARY', index] as const] : []),
  ]);
  return {
    name,
    key: table.key.map(column),
    columns,
    search: (table.search ?? []).map(column),
    column,
    uniques: new Map(uniques),
  };
};

/** Sends a text as it is. @returns the rows */
export type Send = (text: string, parameters?: readonly unknown[]) => Promise<Record<string, unknown>[]>;

/** @param prefix the names of the tables, and of their indexes, begin with it. */
export const sqlTables = (prefix: string, tables = TABLES): ((name: TableName) => SqlTable) => {
  const each = new Map(Object.entries(tables).map(([name, table]) => [name, toSqlTable(table, prefix)]));
  return (name) => each.get(name) as SqlTable;
};

export type Booleans = (value: boolean) => unknown;

export const toRow = ({ columns }: SqlTable, row: Row): Row & { readonly version: number } => {
  const read: Record<string, unknown> = {};
  for (const column of columns) read[column.member] = fromSql(column, row[column.name]);
  return { ...read, version: Number(row[VERSION]) };
};

/** A statement: its table, what it is, its values, and how it is built of values. */
export type Statement<Result> = {
  readonly table: SqlTable;
  readonly shape: string;
  readonly values: readonly unknown[];
  readonly build: (db: Sql, values: readonly unknown[]) => Result;
};

/** How rows are locked that are read; `null` for not at all. `write`: by a change of their version, which is a conflict at every node. */
export type RowLock = 'no key update' | 'update' | 'write' | null;

/** How a database is asked for rows. */
export type Asking = {
  readonly booleans: Booleans;
  /**
   * Whether values that are equal are a range as well, and the first of the order, where rows behind a place are asked for: for equal ones, MariaDB
   * reads all rows before the place.
   */
  readonly equalsAreRanges: boolean;
};

export const selectRows = <Name extends TableName>(
  table: SqlTable,
  { equal = {}, range, order = [], descending = false, skip, limit }: Query<Name>,
  { booleans, equalsAreRanges }: Asking,
  lock: RowLock,
) => {
  const equals = Object.entries(equal).map(([member, value]) => [table.column(member), value] as const);
  const columns = equals.map(([{ name }]) => name);
  const values = equals.map(([column, value]) => toSql(column, value, booleans));
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
    build: (db: Sql, given: readonly unknown[]) => {
      const [bound, most, first] = given.slice(columns.length) as [unknown, number, number];
      const chosen = (names: readonly string[]) => {
        let query = db.selectFrom(table.name).select(names);
        for (const [at, name] of columns.entries())
          query = isRange
            ? query.where(name, '>=', given[at]).where(name, '<=', given[at])
            : query.where(name, '=', given[at]);
        if (range !== undefined) query = query.where(table.column(range[0]).name, range[1], bound);
        for (const name of sorted) query = query.orderBy(name, direction);
        if (limit !== undefined) query = query.limit(most);
        return skip === undefined ? query : query.offset(first);
      };
      if (skip !== undefined) return rowsOf(db, table, chosen(table.key.map(({ name }) => name)), sorted, direction);
      const query = chosen(namesOf(table));
      if (lock === 'update' || lock === 'write') return query.forUpdate();
      return lock === 'no key update' ? query.forNoKeyUpdate() : query;
    },
  } satisfies Statement<unknown>;
};

/** The rows of keys, which an index has: so what is left out is not read. */
const rowsOf = (
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
    .select(namesOf(table).map(inTable));
  for (const name of sorted) query = query.orderBy(inTable(name), direction);
  return query;
};

export const insertRow = (table: SqlTable, row: Row, booleans: Booleans) => ({
  table,
  shape: `insert ${table.name}`,
  values: [...table.columns.map((column) => toSql(column, row[column.member], booleans)), row[VERSION]],
  build: (db: Sql, given: readonly unknown[]) =>
    db.insertInto(table.name).values(Object.fromEntries(namesOf(table).map((name, at) => [name, given[at]]))),
});

const namesOf = ({ columns }: SqlTable): string[] => [...columns.map(({ name }) => name), VERSION];

/** Writes the columns that differ: a refresh, for example, need not send what it does not change. */
export const updateRow = (table: SqlTable, before: Row, after: Row, booleans: Booleans) => {
  const sent = (row: Row, column: SqlColumn) => toSql(column, row[column.member], booleans);
  const changed = table.columns.filter((column) => sent(before, column) !== sent(after, column));
  const names = [...changed.map(({ name }) => name), VERSION];
  return {
    table,
    shape: JSON.stringify(['update', table.name, names]),
    values: [...changed.map((column) => sent(after, column)), after[VERSION], ...identityOf(table, before)],
    build: (db: Sql, given: readonly unknown[]) =>
      db
        .updateTable(table.name)
        .set(Object.fromEntries(names.map((name, at) => [name, given[at]])))
        .where(isRow(table, given.slice(names.length))),
  } satisfies Statement<unknown>;
};

/** Changes the version of a row. */
export const touchRow = (table: SqlTable, key: Row, booleans: Booleans) => {
  const columns = Object.keys(key).map(table.column);
  return {
    table,
    shape: JSON.stringify(['touch', table.name, columns.map(({ name }) => name)]),
    values: columns.map((column) => toSql(column, key[column.member], booleans)),
    build: (db: Sql, given: readonly unknown[]) =>
      db
        .updateTable(table.name)
        .set((eb) => ({ [VERSION]: eb(VERSION, '+', 1) }))
        .where((eb) => eb.and(columns.map(({ name }, at) => eb(name, '=', given[at])))),
  } satisfies Statement<unknown>;
};

/** @param isReturning whether the keys of the deleted rows are returned. */
export const deleteRows = (table: SqlTable, rows: readonly object[], isReturning: boolean) => {
  const length = table.key.length + 1;
  return {
    table,
    shape: `delete ${rows.length} ${table.name}`,
    values: rows.flatMap((row) => identityOf(table, row)),
    build: (db: Sql, given: readonly unknown[]): Compilable<Rows[string]> => {
      const query = db
        .deleteFrom(table.name)
        .where((eb) => eb.or(rows.map((_, at) => isRow(table, given.slice(at * length, (at + 1) * length))(eb))));
      return isReturning ? query.returning(table.key.map(({ name }) => name)) : query;
    },
  } satisfies Statement<unknown>;
};

const identityOf = ({ key }: SqlTable, row: object): unknown[] =>
  [...key.map(({ member }) => member), VERSION].map((member) => Reflect.get(row, member));

const isRow =
  ({ key }: SqlTable, identity: readonly unknown[]) =>
  (eb: ExpressionBuilder<Rows, string>) =>
    eb.and([...key.map(({ name }, at) => eb(name, '=', identity[at])), eb(VERSION, '=', identity[key.length])]);

const names = new Map<string, string>();

/** The name under which a statement is prepared; `undefined` for a text that was not named. */
export const statementName = (text: string): string | undefined => names.get(text);

/** Stands for the value at a place while a statement is built. */
class Placeholder {
  readonly at: number;

  constructor(at: number) {
    this.at = at;
  }
}

type Built = {
  readonly query: CompiledQuery<unknown>;
  readonly reads: boolean;
  readonly name: string;
  readonly attributes: Attributes;
};

/** What a statement does, and its table. Of one with several parts, what it adds. */
const SUMMARY = /^(?:with\b.*?\b(?=insert ))?(\w+).*?(?<=\b(?:from|into|update) )["`](\w+)/s;

type Build<Row> = (db: Sql, placeholders: readonly unknown[]) => Compilable<Row>;

export const anyConnection = (db: Sql): Connection => ({ db, execute: (query) => db.executeQuery(query) });

/**
 * What sends the statements of one database. Each is built once, since that costs about as much as sending it: there are as many as there are ways to
 * ask for something, of which none depends on a request. `shape` is the same for statements that differ in their values alone.
 */
export const builtStatements = (system: string) => {
  const built = new Map<string, Built>();
  const compiled = <Row>(db: Sql, shape: string, count: number, build: Build<Row>): Built => {
    const before = built.get(shape);
    if (before !== undefined) return before;
    const query = build(
      db,
      Array.from({ length: count }, (_, at) => new Placeholder(at)),
    ).compile();
    names.set(query.sql, `tandem_${hash('sha256', query.sql).slice(0, 16)}`);
    const [, operation = '', table = ''] = SUMMARY.exec(query.sql) ?? [];
    const attributes = { 'db.system.name': system, 'db.operation.name': operation, 'db.collection.name': table };
    const kept = { query, reads: operation === 'select', name: `${operation} ${table}`, attributes };
    built.set(shape, kept);
    return kept;
  };
  return <Row>({ db, execute }: Connection, shape: string, values: readonly unknown[], build: Build<Row>) => {
    const { query, reads, name, attributes } = compiled(db, shape, values.length, build);
    const parameters = query.parameters.map((each) => (each instanceof Placeholder ? values[each.at] : each));
    return leafSpan(name, attributes, () => execute({ ...query, parameters } as CompiledQuery<Row>, reads));
  };
};
