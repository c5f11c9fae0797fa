import { TABLES, type TableName } from '../../application/storage/tables.ts';

/** A row of any table. It is never changed, only replaced. */
export type Row = Readonly<Record<string, unknown>> & { readonly version: number };

export type Rows = {
  readonly tables: typeof TABLES;
  get(table: TableName, key: string): Row | undefined;
  all(table: TableName): Row[];
  /** @param row `undefined` to remove the one with this key, with what goes with it. */
  set(table: TableName, key: string, row: Row | undefined): void;
};

/** Changes that nobody else sees yet. */
type Changes = Rows & {
  made(): { readonly table: TableName; readonly key: string; readonly after: Row | undefined }[];
  /** Makes the changes, unless a row that they were based on has changed since, or one of theirs cannot be stored any more. @returns whether it did. */
  commit(isRefused: (table: TableName, row: Row) => boolean): boolean;
};

export const keyOf = (table: TableName, row: Readonly<Record<string, unknown>>, tables = TABLES): string =>
  JSON.stringify(tables[table].key.map((column) => row[column]));

const namesOf = (tables: typeof TABLES) => Object.keys(tables) as TableName[];

const byTable = <Value>(tables: typeof TABLES) => {
  const each = new Map(namesOf(tables).map((name) => [name, new Map<string, Value>()]));
  return (name: TableName): Map<string, Value> => each.get(name) as Map<string, Value>;
};

const removeOwned = (rows: Rows, user: Row | undefined): void => {
  if (user === undefined) return;
  for (const name of namesOf(rows.tables).filter((each) => rows.tables[each].ofUser))
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
  /** The rows that the changes are based on. */
  const { tables } = stored;
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
  const each = (rows: typeof seen) =>
    namesOf(tables).flatMap((table) => [...rows(table)].map(([key, after]) => ({ table, key, after })));
  return {
    ...changes,
    made: () => each(changed),
    commit(isRefused) {
      if (each(seen).some(({ table, key, after }) => stored.get(table, key) !== after)) return false;
      if (each(changed).some(({ table, after }) => after !== undefined && isRefused(table, after))) return false;
      for (const { table, key, after } of each(changed)) stored.set(table, key, after);
      return true;
    },
  };
};
