import { CompiledQuery, type CreateTableBuilder, type RawBuilder, sql } from 'kysely';
import type { Types } from './options.ts';
import { makeSearchIndex } from './search.ts';
import type { Send, Sql } from './statements.ts';

/** The types of columns for `addColumn`, and `tableOptions` for `modifyEnd` of a new table, as the declared tables have them. */
type ColumnTypes = Readonly<
  Record<'integer' | 'text' | 'indexedText' | 'json' | 'boolean' | 'tableOptions', RawBuilder<unknown>>
>;

/** A change of tables that were created by an earlier version. */
export type Migration = {
  /** The version that brings it, and what it does: `1.1.0-devices`. It never changes. */
  readonly name: string;
  /** Written with Kysely's schema builder, for every kind of database. @param prefix of the names of tables and indexes. */
  readonly up: (
    transaction: Sql,
    context: { readonly parts: ColumnTypes; readonly prefix: string; readonly search: readonly string[] },
  ) => Promise<void>;
  /** On PostgreSQL in place of `up`, outside of the transaction: an index of a table that may have many rows is made `concurrently`. */
  readonly apart?: (send: Send, prefix: string) => Promise<void>;
};

type NewTable = {
  readonly table: string;
  /** With a question mark, the column may be `null`. */
  readonly columns: Readonly<Record<string, ColumnType | `${ColumnType}?`>>;
  readonly key: string[];
  /** Their columns, by the ends of their names. */
  readonly indexes?: Readonly<Record<string, string[]>>;
  /** Whether rows go with the user whose id is their `user_id`. */
  readonly ofUser?: true;
};
type ColumnType = Exclude<keyof ColumnTypes, 'tableOptions'>;

const newTable = (name: string, { table, columns, key, indexes = {}, ofUser }: NewTable): Migration => ({
  name,
  async up({ schema }, { parts, prefix }) {
    const inSql = `${prefix}${table}`;
    let statement: CreateTableBuilder<string, string> = schema.createTable(inSql).modifyEnd(parts.tableOptions);
    for (const [column, type] of Object.entries({ ...columns, version: 'integer' }))
      statement = statement.addColumn(column, parts[type.replace('?', '') as ColumnType], (each) =>
        type.endsWith('?') ? each : each.notNull(),
      );
    statement = statement.addPrimaryKeyConstraint(`${inSql}_pkey`, key);
    if (ofUser)
      statement = statement.addForeignKeyConstraint(
        `${inSql}_user_id_fkey`,
        ['user_id'],
        `${prefix}users`,
        ['id'],
        (constraint) => constraint.onDelete('cascade').onUpdate('no action'),
      );
    await statement.execute();
    for (const [index, members] of Object.entries(indexes))
      await schema.createIndex(`${inSql}_${index}`).on(inSql).columns(members).execute();
  },
});

/** That may be `null`. */
const newColumn = (name: string, table: string, column: string, type: keyof ColumnTypes): Migration => ({
  name,
  async up({ schema }, { parts, prefix }) {
    await schema.alterTable(`${prefix}${table}`).addColumn(column, parts[type]).execute();
  },
});

/** In the order in which they are applied. New databases get the tables as they are declared, and need none of them (CONTRIBUTING.md). */
export const MIGRATIONS: readonly Migration[] = [
  newTable('1.1.0-invitations', {
    table: 'invitations',
    columns: {
      ...{ email: 'indexedText', id: 'text', token_hash: 'indexedText', attributes: 'json' },
      ...{ created_at: 'integer', expires_at: 'integer' },
    },
    key: ['email'],
    indexes: { token: ['token_hash'], expiry: ['expires_at'] },
  }),
  newTable('1.1.0-identities', {
    table: 'identities',
    columns: {
      ...{ issuer: 'indexedText', subject: 'indexedText', id: 'indexedText', user_id: 'indexedText' },
      ...{ provider: 'indexedText', email: 'text?', created_at: 'integer', last_used_at: 'integer?' },
    },
    key: ['issuer', 'subject'],
    indexes: { user: ['user_id', 'id'], provider: ['provider', 'id'] },
    ofUser: true,
  }),
  newColumn('1.1.0-notes', 'events', 'note', 'text'),
  newTable('1.1.0-ended-sessions', {
    table: 'ended_sessions',
    columns: { id: 'indexedText', at: 'integer', user_id: 'text?', session_id: 'text?', reason: 'text' },
    key: ['id'],
    indexes: { at: ['at', 'id'] },
  }),
  newTable('1.1.0-mass-endings', {
    table: 'mass_endings',
    columns: { id: 'indexedText', at: 'integer', note: 'text?', actor: 'text?', cursor: 'text?' },
    key: ['id'],
  }),
  newTable('1.1.0-webhooks', {
    table: 'webhooks',
    columns: {
      ...{ id: 'indexedText', url: 'text', types: 'json?', key_number: 'integer', public_key: 'text' },
      ...{ has_secret: 'boolean', created_at: 'integer', rotated_at: 'integer?', disabled_at: 'integer?' },
    },
    key: ['id'],
  }),
  newTable('1.1.0-webhook-deliveries', {
    table: 'webhook_deliveries',
    columns: {
      ...{ webhook_id: 'indexedText', user_id: 'indexedText', sequence: 'integer', event: 'json' },
      ...{ attempts: 'integer', created_at: 'integer', is_waiting: 'boolean', next_attempt_at: 'integer?' },
    },
    key: ['webhook_id', 'user_id', 'sequence'],
    indexes: { due: ['webhook_id', 'next_attempt_at'], age: ['is_waiting', 'created_at'] },
  }),
  newTable('1.1.0-webhook-sequences', {
    table: 'webhook_sequences',
    columns: { user_id: 'indexedText', sequence: 'integer' },
    key: ['user_id'],
    ofUser: true,
  }),
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

export const partsOf = ({ integer, text, indexedText, collation, tableOptions }: Types): ColumnTypes => {
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
