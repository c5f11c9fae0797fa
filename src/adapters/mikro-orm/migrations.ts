import { CompiledQuery, type RawBuilder, sql } from 'kysely';
import type { Types } from './entities.ts';
import type { Sql } from './statements.ts';

/** The types of columns for `addColumn`, and `tableOptions` for `modifyEnd` of a new table, as the declared tables have them. */
type Parts = Readonly<Record<'integer' | 'text' | 'indexedText' | 'json' | 'tableOptions', RawBuilder<unknown>>>;

/** A change of tables that were created by an earlier version. */
export type Migration = {
  /** The version that brings it, and what it does: `1.1.0-devices`. It never changes. */
  readonly name: string;
  /** Written with Kysely's schema builder, for every kind of database. @param prefix of the names of tables and indexes. */
  readonly up: (
    transaction: Sql,
    context: { readonly parts: Parts; readonly prefix: string; readonly search: readonly string[] },
  ) => Promise<void>;
};

/** In the order in which they are applied. New databases get the tables as they are declared, and need none of them (CONTRIBUTING.md). */
export const MIGRATIONS: readonly Migration[] = [
  {
    name: '1.1.0-invitations',
    async up({ schema }, { parts: { integer, text, indexedText, json, tableOptions }, prefix }) {
      const table = `${prefix}invitations`;
      await schema
        .createTable(table)
        .addColumn('email', indexedText, (column) => column.notNull())
        .addColumn('id', text, (column) => column.notNull())
        .addColumn('token_hash', indexedText, (column) => column.notNull())
        .addColumn('attributes', json, (column) => column.notNull())
        .addColumn('created_at', integer, (column) => column.notNull())
        .addColumn('expires_at', integer, (column) => column.notNull())
        .addColumn('version', integer, (column) => column.notNull())
        .addPrimaryKeyConstraint(`${table}_pkey`, ['email'])
        .modifyEnd(tableOptions)
        .execute();
      await schema.createIndex(`${table}_token`).on(table).column('token_hash').execute();
      await schema.createIndex(`${table}_expiry`).on(table).column('expires_at').execute();
    },
  },
  {
    name: '1.1.0-identities',
    async up({ schema }, { parts: { integer, text, indexedText, tableOptions }, prefix }) {
      const table = `${prefix}identities`;
      await schema
        .createTable(table)
        .addColumn('issuer', indexedText, (column) => column.notNull())
        .addColumn('subject', indexedText, (column) => column.notNull())
        .addColumn('id', indexedText, (column) => column.notNull())
        .addColumn('user_id', indexedText, (column) => column.notNull())
        .addColumn('provider', text, (column) => column.notNull())
        .addColumn('email', text)
        .addColumn('created_at', integer, (column) => column.notNull())
        .addColumn('last_used_at', integer)
        .addColumn('version', integer, (column) => column.notNull())
        .addPrimaryKeyConstraint(`${table}_pkey`, ['issuer', 'subject'])
        .addForeignKeyConstraint(`${table}_user_id_fkey`, ['user_id'], `${prefix}users`, ['id'], (key) =>
          key.onDelete('cascade').onUpdate('no action'),
        )
        .modifyEnd(tableOptions)
        .execute();
      await schema.createIndex(`${table}_user`).on(table).columns(['user_id', 'id']).execute();
    },
  },
  {
    name: '1.1.0-notes',
    async up({ schema }, { parts: { text }, prefix }) {
      await schema.alterTable(`${prefix}events`).addColumn('note', text).execute();
    },
  },
  {
    name: '1.1.0-ended-sessions',
    async up({ schema }, { parts: { integer, text, indexedText, tableOptions }, prefix }) {
      const table = `${prefix}ended_sessions`;
      await schema
        .createTable(table)
        .addColumn('id', indexedText, (column) => column.notNull())
        .addColumn('at', integer, (column) => column.notNull())
        .addColumn('user_id', text)
        .addColumn('session_id', text)
        .addColumn('reason', text, (column) => column.notNull())
        .addColumn('version', integer, (column) => column.notNull())
        .addPrimaryKeyConstraint(`${table}_pkey`, ['id'])
        .modifyEnd(tableOptions)
        .execute();
      await schema.createIndex(`${table}_at`).on(table).columns(['at', 'id']).execute();
    },
  },
  {
    name: '1.1.0-mass-endings',
    async up({ schema }, { parts: { integer, text, indexedText, tableOptions }, prefix }) {
      const table = `${prefix}mass_endings`;
      await schema
        .createTable(table)
        .addColumn('id', indexedText, (column) => column.notNull())
        .addColumn('at', integer, (column) => column.notNull())
        .addColumn('note', text)
        .addColumn('actor', text)
        .addColumn('cursor', text)
        .addColumn('version', integer, (column) => column.notNull())
        .addPrimaryKeyConstraint(`${table}_pkey`, ['id'])
        .modifyEnd(tableOptions)
        .execute();
    },
  },
  {
    name: '1.1.0-search',
    async up(transaction, { search }) {
      for (const statement of search) await transaction.executeQuery(CompiledQuery.raw(statement));
    },
  },
];

export const partsOf = ({ integer, text, indexedText, collation, tableOptions }: Types): Parts => {
  const collated = (type: string) => sql.raw(collation === null ? type : `${type} collate "${collation}"`);
  return {
    integer: sql.raw(integer),
    text: collated(text),
    indexedText: indexedText === text ? collated(text) : sql.raw(indexedText),
    json: sql.raw(text),
    tableOptions: sql.raw(tableOptions),
  };
};
