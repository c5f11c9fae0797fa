import { CompiledQuery, type RawBuilder, sql } from 'kysely';
import type { Types } from './options.ts';
import { makeSearchIndex } from './search.ts';
import type { Send, Sql } from './statements.ts';

/** The types of columns for `addColumn`, as the declared tables have them. */
type ColumnTypes = Readonly<Record<'integer' | 'text' | 'indexedText' | 'json' | 'boolean', RawBuilder<unknown>>>;

/** A change of a table that was created by an earlier version. A table that is missing is created as it is declared. */
export type Migration = {
  /** The version that brings it, and what it does: `1.1.0-devices`. It never changes. */
  readonly name: string;
  /** The name of the table: one that is missing needs no change. */
  readonly table: string;
  /** Written with Kysely's schema builder, for every kind of database. @param prefix of the names of tables and indexes. */
  readonly up: (
    transaction: Sql,
    context: { readonly parts: ColumnTypes; readonly prefix: string; readonly search: readonly string[] },
  ) => Promise<void>;
  /** On PostgreSQL in place of `up`, outside of the transaction: an index of a table that may have many rows is made `concurrently`. */
  readonly apart?: (send: Send, prefix: string) => Promise<void>;
};

/** That may be `null`. */
const newColumn = (name: string, table: string, column: string, type: keyof ColumnTypes): Migration => ({
  name,
  table,
  async up({ schema }, { parts, prefix }) {
    await schema.alterTable(`${prefix}${table}`).addColumn(column, parts[type]).execute();
  },
});

/** In the order in which they are applied. New databases get the tables as they are declared, and need none of them (CONTRIBUTING.md). */
export const MIGRATIONS: readonly Migration[] = [
  newColumn('1.1.0-notes', 'events', 'note', 'text'),
  {
    name: '1.1.0-search',
    table: 'users',
    async up(transaction, { search }) {
      for (const statement of search) await transaction.executeQuery(CompiledQuery.raw(statement));
    },
    apart: makeSearchIndex,
  },
  newColumn('1.1.0-imported-factors', 'users', 'imported_factors', 'json'),
  newColumn('1.1.0-removed-identities', 'users', 'removed_identities', 'json'),
  newColumn('1.1.0-undo-by-ids', 'links', 'keeps', 'json'),
  newColumn('1.1.0-methods', 'events', 'method', 'text'),
];

export const partsOf = ({ integer, text, indexedText, collation }: Types): ColumnTypes => {
  const collated = (type: string) => sql.raw(collation === null ? type : `${type} collate "${collation}"`);
  return {
    integer: sql.raw(integer),
    text: collated(text),
    indexedText: indexedText === text ? collated(text) : sql.raw(indexedText),
    json: sql.raw(text),
    // SQLite has no type for them.
    boolean: sql.raw(integer === 'integer' ? integer : 'boolean'),
  };
};
