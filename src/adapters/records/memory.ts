import pLimit from 'p-limit';
import { type Query, type Records, type Storage, type Stored, violation } from '../../application/storage/records.ts';
import { type AnyTable, keyName, TABLES, type TableName, uniquesOf } from '../../application/storage/tables.ts';
import { AppError } from '../../domain/errors/app-error.ts';
import { type OwnTables, withOwnTables } from './own-tables.ts';
import {
  type Calls,
  ConflictError,
  firstVersion,
  isStorable,
  recordsOver,
  storageOver,
  type Transact,
  unstorable,
} from './storage.ts';

/** A row of any table. Rows are replaced, and never changed in place. */
export type Row = Readonly<Record<string, unknown>> & { readonly version: number };

export type Rows = {
  readonly tables: typeof TABLES;
  get(table: TableName, key: string): Row | undefined;
  all(table: TableName): Row[];
  /** Stores a row. @param row `undefined` removes the row, and with a user also the rows of the user (`ofUser`) */
  set(table: TableName, key: string, row: Row | undefined): void;
};

/** The rows as a transaction sees them. Other transactions do not see its changes before the commit. */
type Changes = Rows & {
  list(): { readonly table: TableName; readonly key: string; readonly after: Row | undefined }[];
  /** Stores the changes, unless a row that the transaction has read has changed since, or `refusal` now refuses a row. @returns whether they were stored */
  commit(): boolean;
};

export const keyOf = (table: TableName, row: Readonly<Record<string, unknown>>, tables = TABLES): string =>
  JSON.stringify(tables[table].key.map((column) => row[column]));

const tableNames = (tables: typeof TABLES) => Object.keys(tables) as TableName[];

const byTable = <Value>(tables: typeof TABLES) => {
  const maps = new Map(tableNames(tables).map((name) => [name, new Map<string, Value>()]));
  return (name: TableName): Map<string, Value> => maps.get(name) as Map<string, Value>;
};

const removeOwned = (rows: Rows, user: Row | undefined): void => {
  if (user === undefined) return;
  for (const name of tableNames(rows.tables).filter((each) => rows.tables[each].ofUser))
    for (const row of rows.all(name))
      if (row.userId === user.id) rows.set(name, keyOf(name, row, rows.tables), undefined);
};

export type StoredRows = Rows & { begin(): Changes };

export const memoryRows = (tables = TABLES): StoredRows => {
  const stored = byTable<Row>(tables);
  const rows: Rows = {
    tables,
    get: (table, key) => stored(table).get(key),
    all: (table) => [...stored(table).values()],
    set(table, key, row) {
      const before = stored(table).get(key);
      if (row !== undefined) stored(table).set(key, row);
      else stored(table).delete(key);
      if (table === 'users' && row === undefined) removeOwned(rows, before);
    },
  };
  return { ...rows, begin: () => changesOf(rows) };
};

const changesOf = (stored: Rows): Changes => {
  const { tables } = stored;
  /** Each row that the transaction has read, as it was then. */
  const seen = byTable<Row | undefined>(tables);
  const changed = byTable<Row | undefined>(tables);
  const changes: Rows = {
    tables,
    get(table, key) {
      if (!seen(table).has(key)) seen(table).set(key, stored.get(table, key));
      return changed(table).has(key) ? changed(table).get(key) : stored.get(table, key);
    },
    all(table) {
      const kept = stored.all(table).filter((row) => !changed(table).has(keyOf(table, row, tables)));
      return [...kept, ...[...changed(table).values()].filter((row) => row !== undefined)];
    },
    set(table, key, row) {
      const before = changes.get(table, key);
      changed(table).set(key, row);
      if (table === 'users' && row === undefined) removeOwned(changes, before);
    },
  };
  const entriesOf = (rows: typeof seen) =>
    tableNames(tables).flatMap((table) => [...rows(table)].map(([key, after]) => ({ table, key, after })));
  return {
    ...changes,
    list: () => entriesOf(changed),
    commit() {
      const entries = entriesOf(changed);
      if (entriesOf(seen).some(({ table, key, after }) => stored.get(table, key) !== after)) return false;
      if (entries.some(({ table, after }) => after && refusal(changes, table, after))) return false;
      for (const { table, key, after } of entries) stored.set(table, key, after);
      return true;
    },
  };
};

/** A storage in the memory of this process, for tests. @param tables the tables of the application, as `serve` gets them */
export const memoryStorage = (tables?: OwnTables): Storage => storageOver(memoryRecords(tables));

/** Records in the memory of this process. Units run one after the other. A query that no declared index serves is refused, so that tests find it. */
export const memoryRecords = (tables?: OwnTables): Records => {
  const stored = memoryRows(withOwnTables(tables));
  return recordsOver(callsOver(stored), transactOver(stored));
};

/** Runs transactions over stored rows, one at a time. @param calls returns the `Calls` of a transaction, over its changes */
export const transactOver = (stored: StoredRows, calls = callsOver): Transact => {
  const oneAtATime = pLimit(1);
  return (work) =>
    oneAtATime(async () => {
      const changes = stored.begin();
      const result = await work(calls(changes));
      if (!changes.commit()) throw new ConflictError('what a transaction has read was changed meanwhile');
      return result;
    });
};

export const callsOver = (rows: Rows): Calls => {
  const keyIn = (table: TableName, row: Readonly<Record<string, unknown>>) => keyOf(table, row, rows.tables);
  /** The stored row, if it still has the version of `row`, which the caller has read. */
  const currentIfUnchanged = (table: TableName, row: Row): Row | undefined => {
    const current = rows.get(table, keyIn(table, row));
    return current?.version === row.version ? current : undefined;
  };
  const store = (table: TableName, row: Row): void => {
    const error = refusal(rows, table, row);
    if (error !== undefined) throw error;
    rows.set(table, keyIn(table, row), structuredClone(row));
  };
  return {
    async insert(table, row) {
      if (rows.get(table, keyIn(table, row)) !== undefined) throw violation(keyName(rows.tables[table]));
      store(table, { ...row, version: firstVersion() });
    },
    async list(table, query) {
      if (!isIndexed(rows.tables[table], query)) throw indexError(table, query);
      const { order = [], descending = false, skip = 0, limit = Number.POSITIVE_INFINITY } = query;
      const found = rows.all(table).filter((row) => matchesQuery(row, query));
      if (order.length > 0) found.sort((a, b) => compareRows(a, b, order) * (descending ? -1 : 1));
      // In a transaction, `get` notes that the row was read, which `commit` checks.
      return found.slice(skip, skip + limit).map((row) => copyOf(table, rows.get(table, keyIn(table, row)) ?? row));
    },
    async replace(table, before, after) {
      if (currentIfUnchanged(table, before) === undefined) return false;
      store(table, { ...after, version: before.version + 1 });
      return true;
    },
    async remove(table, found) {
      return found.filter((row) => {
        if (currentIfUnchanged(table, row) === undefined) return false;
        rows.set(table, keyIn(table, row), undefined);
        return true;
      });
    },
    async lock(table, key) {
      const row = rows.get(table, keyIn(table, key));
      return row === undefined ? null : copyOf(table, row);
    },
  };
};

/** A copy of a row, which the caller may change. @param _table gives the copy its type */
const copyOf = <Name extends TableName>(_table: Name, row: Row): Stored<Name> =>
  structuredClone(row) as unknown as Stored<Name>;

/** Why a row cannot be stored beside the stored ones; `undefined` if it can be stored. */
const refusal = (rows: Rows, table: TableName, row: Row): AppError | undefined => {
  const { unique = {}, ofUser } = rows.tables[table];
  if (!Object.values(row).every(isStorable)) return unstorable();
  if (ofUser && row.userId !== null && rows.get('users', keyOf('users', { id: row.userId })) === undefined)
    return new AppError('DB_QUERY_FAILED', { reason: `a row of ${table} has no user` });
  const key = keyOf(table, row, rows.tables);
  const isSame = (columns: readonly string[], other: Row) =>
    columns.every((column) => row[column] !== null && other[column] === row[column]);
  const takenIndex = Object.entries(unique).find(([, columns]) =>
    rows.all(table).some((other) => isSame(columns, other) && keyOf(table, other, rows.tables) !== key),
  );
  return takenIndex && violation(takenIndex[0]);
};

const matchesQuery = <Name extends TableName>(row: Row, { equal = {}, range }: Query<Name>): boolean =>
  Object.entries(equal).every(([column, value]) => row[column] === value) &&
  (range === undefined || isInRange(row[range[0]], range[1], range[2]));

const isInRange = (value: unknown, operator: '<' | '<=' | '>' | '>=', bound: string | number): boolean => {
  if (typeof value !== 'string' && typeof value !== 'number') return false;
  if (value === bound) return operator === '<=' || operator === '>=';
  return operator.startsWith('<') === value < bound;
};

const compareRows = (a: Row, b: Row, order: readonly string[]): number => {
  const column = order.find((each) => a[each] !== b[each]);
  if (column === undefined) return 0;
  return (a[column] as string) < (b[column] as string) ? -1 : 1;
};

/** Whether a declared index has the order of a query, or narrows a query without an order. */
const isIndexed = <Name extends TableName>(
  table: AnyTable,
  { equal = {}, range, order = [] }: Query<Name>,
): boolean => {
  const indexes = [...uniquesOf(table).map(([, columns]) => columns), ...Object.values(table.indexes ?? {})];
  return indexes.some((columns) => {
    const free = columns.findIndex((column) => !(column in equal));
    const rest = free < 0 ? [] : columns.slice(free);
    const isOrdered = order.every((column, at) => column === rest[at]);
    const isNarrow = rest.length < columns.length || range?.[0] === rest[0] || order.length > 0;
    return isNarrow && isOrdered;
  });
};

const indexError = <Name extends TableName>(table: Name, { equal = {}, range, order = [] }: Query<Name>): AppError => {
  const columns = [...Object.keys(equal), ...(range ? [range[0]] : []), ...order].join(', ');
  return new AppError('SYS_UNEXPECTED_ERROR', { reason: `no index of ${table} serves a query by ${columns}` });
};
