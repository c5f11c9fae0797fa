import { CompiledQuery, type RawBuilder, sql } from 'kysely';
import type { SqlTypes } from './options.ts';
import { makeSearchIndex } from './search.ts';
import type { Send, Sql } from './statements.ts';

type ColumnTypes = Readonly<Record<'integer' | 'text' | 'indexedText' | 'json' | 'boolean', RawBuilder<unknown>>>;

/** A change of a table that an earlier version has created. */
export type Migration = {
  /** The version that brings the migration, and what it adds, such as `1.1.0-notes`. Databases store the name, so it never changes. */
  readonly name: string;
  /** The table that changes. If a database lacks the table, it is created with the change, and `up` does not run. */
  readonly table: string;
  /** Makes the change, for instance with Kysely's schema builder. `search` is the result of `searchIndex`. */
  readonly up: (
    transaction: Sql,
    context: { readonly types: ColumnTypes; readonly prefix: string; readonly search: readonly string[] },
  ) => Promise<void>;
  /** On PostgreSQL, runs instead of `up`, outside of a transaction, to make an index of a large table `concurrently`. */
  readonly upOutsideTransaction?: (send: Send, prefix: string) => Promise<void>;
};

/** Adds a column that may be `null`. */
const newColumn = (name: string, table: string, column: string, type: keyof ColumnTypes): Migration => ({
  name,
  table,
  async up({ schema }, { types, prefix }) {
    await schema.alterTable(`${prefix}${table}`).addColumn(column, types[type]).execute();
  },
});

/** In the order in which they are applied; those with `upOutsideTransaction` last on PostgreSQL. */
export const MIGRATIONS: readonly Migration[] = [
  newColumn('1.1.0-notes', 'events', 'note', 'text'),
  {
    name: '1.1.0-search',
    table: 'users',
    async up(transaction, { search }) {
      for (const statement of search) await transaction.executeQuery(CompiledQuery.raw(statement));
    },
    upOutsideTransaction: makeSearchIndex,
  },
  newColumn('1.1.0-imported-factors', 'users', 'imported_factors', 'json'),
  newColumn('1.1.0-removed-identities', 'users', 'removed_identities', 'json'),
  newColumn('1.1.0-undo-by-ids', 'links', 'keeps', 'json'),
  newColumn('1.1.0-methods', 'events', 'method', 'text'),
];

export const columnTypesOf = ({ integer, text, indexedText, collation }: SqlTypes): ColumnTypes => {
  const withCollation = (type: string) => sql.raw(collation === null ? type : `${type} collate "${collation}"`);
  return {
    integer: sql.raw(integer),
    text: withCollation(text),
    indexedText: indexedText === text ? withCollation(text) : sql.raw(indexedText),
    json: sql.raw(text),
    // SQLite has no type for booleans.
    boolean: sql.raw(integer === 'integer' ? integer : 'boolean'),
  };
};
