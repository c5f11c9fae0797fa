import type { OwnRecords, Records } from '../../application/storage/records.ts';
import { type AnyTable, TABLES, type TableName, uniquesOf } from '../../application/storage/tables.ts';

/** A table of the application. Errors name its indexes `app_<table>_<index>`. */
export type OwnTable = Omit<AnyTable, 'name'>;
export type OwnTables = Readonly<Record<string, OwnTable>>;

type ValuesByType = { text: string; integer: number; boolean: boolean; json: object };
type ValueOf<Type> = Type extends `${infer Kind extends keyof ValuesByType}?`
  ? ValuesByType[Kind] | null
  : Type extends keyof ValuesByType
    ? ValuesByType[Type]
    : never;

export type RowsOf<Own extends OwnTables> = {
  readonly [Name in keyof Own]: {
    readonly [Each in keyof Own[Name]['columns']]: ValueOf<Own[Name]['columns'][Each]>;
  };
};

/** What the names of the application's tables begin with, after DATABASE_TABLE_PREFIX. No name of a table in `TABLES` begins with it. */
export const OWN_PREFIX = 'app_';
const addPrefix = (name: string) => `${OWN_PREFIX}${name}`;

/**
 * The tables of the service, and those of the application.
 * @param prefix of the names of all tables in the database
 * @throws Error that names a wrong table: some database cannot have it, or would read all of it to delete the rows of a user
 */
export const withOwnTables = (own: OwnTables = {}, prefix = ''): typeof TABLES => {
  const added = Object.entries(own).map(([name, { unique, indexes, ...table }]) => {
    const ownIndexes = (given: OwnTable['indexes'] = {}) =>
      Object.fromEntries(Object.entries(given).map(([index, columns]) => [addPrefix(`${name}_${index}`), columns]));
    const ownTable = { ...table, name: addPrefix(name), unique: ownIndexes(unique), indexes: ownIndexes(indexes) };
    const problem = problemsOf(ownTable, prefix).find(([isWrong]) => isWrong);
    if (problem !== undefined) throw new Error(`tables: ${name} ${problem[1]}`);
    return [ownTable.name, ownTable] as const;
  });
  return { ...TABLES, ...Object.fromEntries(added) };
};

/** Characters. PostgreSQL cuts longer names, so two of them could become the same. */
const NAME_MAX_LENGTH = 63;
const VALID_NAME = /^app_[a-z][a-z0-9_]{0,39}$/;
const VALID_COLUMN = /^(?!version )[a-z][A-Za-z0-9]{0,39} (?:text|integer|boolean|json)\??$/;

const problemsOf = (table: AnyTable, prefix: string): readonly (readonly [isWrong: boolean, problem: string])[] => {
  const { name, columns, key, ofUser } = table;
  const indexes = [...uniquesOf(table), ...Object.entries(table.indexes ?? {})];
  const names = [name, ...indexes.map(([index]) => index)];
  const hasType = (type: RegExp) => (column: string | undefined) => type.test(columns[`${column}`] ?? '');
  const isOwned = hasType(/^text/)('userId') && indexes.some(([, [first]]) => first === 'userId');
  return [
    [!names.every((each) => VALID_NAME.test(each)), 'has a name, or an index, that is not of a-z, 0-9 and _'],
    [
      [`${name}_user_id_fkey`, ...names].some((each) => prefix.length + each.length > NAME_MAX_LENGTH),
      'has a name, or an index, that is too long after DATABASE_TABLE_PREFIX',
    ],
    [
      !Object.entries(columns).every((each) => VALID_COLUMN.test(each.join(' '))),
      'has a column with a wrong name, or a type other than text, integer, boolean and json',
    ],
    [
      !indexes.every(([, members]) => members.every(hasType(/./))),
      'has an index over something that is not one of its columns',
    ],
    [
      key.length === 0 || !key.every(hasType(/^(?:text|integer)$/)),
      'needs a key of columns that are text or integer, and never null',
    ],
    [ofUser === true && !isOwned, 'is ofUser: it needs a text userId, and an index that begins with it'],
  ];
};

/** Records of the tables of the application only, under the names by which it has declared them. */
export const ownRecords = (records: Records): OwnRecords => {
  // The casts: only the caller knows the types of the rows.
  const tableName = (name: string) => addPrefix(name) as TableName;
  return {
    insert: (table, row) => records.insert(tableName(table), row as never),
    list: (table, query) => records.list(tableName(table), query as never) as never,
    replace: (table, before, after) => records.replace(tableName(table), before as never, after as never),
    remove: (table, rows) => records.remove(tableName(table), rows as never) as never,
    lock: (table, key) => records.lock(tableName(table), key as never) as never,
  };
};
