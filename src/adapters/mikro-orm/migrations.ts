import { CompiledQuery, type CreateTableBuilder, type RawBuilder, sql } from 'kysely';
import type { Types } from './options.ts';
import { makeSearchIndex } from './search.ts';
import type { Send, Sql } from './statements.ts';

/** The types of columns for `addColumn`, and `tableOptions` for `modifyEnd` of a new table, as the declared tables have them. */
type Parts = Readonly<
  Record<'integer' | 'text' | 'indexedText' | 'json' | 'boolean' | 'tableOptions', RawBuilder<unknown>>
>;

/** A change of tables that were created by an earlier version. */
export type Migration = {
  /** The version that brings it, and what it does: `1.1.0-devices`. It never changes. */
  readonly name: string;
  /** Written with Kysely's schema builder, for every kind of database. @param prefix of the names of tables and indexes. */
  readonly up: (
    transaction: Sql,
    context: { readonly parts: Parts; readonly prefix: string; readonly search: readonly string[] },
  ) => Promise<void>;
  /** On PostgreSQL in place of `up`, outside of the transaction: an index of a table that may have many rows is made `concurrently`. */
  readonly apart?: (send: Send, prefix: string) => Promise<void>;
};

/** @param columns their types, by their names. Those whose name ends with a question mark may be `null`. */
const newTable = (
  schema: Sql['schema'],
  table: string,
  columns: Readonly<Record<string, RawBuilder<unknown>>>,
  key: string[],
  { integer, tableOptions }: Parts,
) =>
  Object.entries({ ...columns, version: integer })
    .reduce<CreateTableBuilder<string, string>>(
      (made, [name, type]) =>
        name.endsWith('?')
          ? made.addColumn(name.slice(0, -1), type)
          : made.addColumn(name, type, (column) => column.notNull()),
      schema.createTable(table),
    )
    .addPrimaryKeyConstraint(`${table}_pkey`, key)
    .modifyEnd(tableOptions);

/** That may be `null`. */
const newColumn = (name: string, table: string, column: string, type: keyof Parts): Migration => ({
  name,
  async up({ schema }, { parts, prefix }) {
    await schema.alterTable(`${prefix}${table}`).addColumn(column, parts[type]).execute();
  },
});

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
  newColumn('1.1.0-notes', 'events', 'note', 'text'),
  {
    name: '1.1.0-ended-sessions',
    async up({ schema }, { parts, prefix }) {
      const { integer, text, indexedText } = parts;
      const table = `${prefix}ended_sessions`;
      const columns = { id: indexedText, at: integer, 'user_id?': text, 'session_id?': text, reason: text };
      await newTable(schema, table, columns, ['id'], parts).execute();
      await schema.createIndex(`${table}_at`).on(table).columns(['at', 'id']).execute();
    },
  },
  {
    name: '1.1.0-mass-endings',
    async up({ schema }, { parts, prefix }) {
      const { integer, text, indexedText } = parts;
      const columns = { id: indexedText, at: integer, 'note?': text, 'actor?': text, 'cursor?': text };
      await newTable(schema, `${prefix}mass_endings`, columns, ['id'], parts).execute();
    },
  },
  {
    name: '1.1.0-webhooks',
    async up({ schema }, { parts, prefix }) {
      const { integer, text, indexedText, json, boolean } = parts;
      const columns = {
        ...{ id: indexedText, url: text, 'types?': json, key_number: integer, public_key: text, has_secret: boolean },
        ...{ created_at: integer, 'rotated_at?': integer, 'disabled_at?': integer },
      };
      await newTable(schema, `${prefix}webhooks`, columns, ['id'], parts).execute();
    },
  },
  {
    name: '1.1.0-webhook-deliveries',
    async up({ schema }, { parts, prefix }) {
      const { integer, indexedText, json, boolean } = parts;
      const table = `${prefix}webhook_deliveries`;
      const columns = {
        ...{ webhook_id: indexedText, user_id: indexedText, sequence: integer, event: json, attempts: integer },
        ...{ created_at: integer, is_waiting: boolean, 'next_attempt_at?': integer },
      };
      await newTable(schema, table, columns, ['webhook_id', 'user_id', 'sequence'], parts).execute();
      await schema.createIndex(`${table}_due`).on(table).columns(['webhook_id', 'next_attempt_at']).execute();
      await schema.createIndex(`${table}_age`).on(table).columns(['is_waiting', 'created_at']).execute();
    },
  },
  {
    name: '1.1.0-webhook-sequences',
    async up({ schema }, { parts, prefix }) {
      const table = `${prefix}webhook_sequences`;
      await newTable(schema, table, { user_id: parts.indexedText, sequence: parts.integer }, ['user_id'], parts)
        .addForeignKeyConstraint(`${table}_user_id_fkey`, ['user_id'], `${prefix}users`, ['id'], (key) =>
          key.onDelete('cascade').onUpdate('no action'),
        )
        .execute();
    },
  },
  {
    name: '1.1.0-search',
    async up(transaction, { search }) {
      for (const statement of search) await transaction.executeQuery(CompiledQuery.raw(statement));
    },
    apart: makeSearchIndex,
  },
  newColumn('1.1.0-imported-factors', 'users', 'imported_factors', 'json'),
  newColumn('1.1.0-removed-identities', 'users', 'removed_identities', 'json'),
  newColumn('1.1.0-undo-by-ids', 'links', 'keeps', 'json'),
];

export const partsOf = ({ integer, text, indexedText, collation, tableOptions }: Types): Parts => {
  const collated = (type: string) => sql.raw(collation === null ? type : `${type} collate "${collation}"`);
  return {
    integer: sql.raw(integer),
    text: collated(text),
    indexedText: indexedText === text ? collated(text) : sql.raw(indexedText),
    json: sql.raw(text),
    // SQLite has no type for them.
    boolean: sql.raw(integer === 'integer' ? integer : 'boolean'),
    tableOptions: sql.raw(tableOptions),
  };
};
