import { MikroORM, NodeSqliteDialect, type Options, type SqlEntityManager, SqliteDriver } from '@mikro-orm/sql';
import { POSTGRESQL, SQLITE } from '../../adapters/mikro-orm/records/dialects.ts';
import { recordEntities, type Types } from '../../adapters/mikro-orm/records/entities.ts';
import { mikroOrmRecords, type SqlDialect } from '../../adapters/mikro-orm/records/records.ts';
import type { Sql } from '../../adapters/mikro-orm/records/statements.ts';
import type { Records } from '../../adapters/records/records.ts';
import type { DatabaseOptions } from '../config/stores.ts';
import { ormOptions } from './orm-options.ts';

/** How the service opens a kind of database. */
type Kind = {
  readonly dialect: SqlDialect;
  readonly types: Types;
  /** Executed on each new connection. */
  readonly settings: readonly string[];
  /** Asks for the number of tables of this name. */
  readonly tables: (name: string) => string;
  /** The schema as this database has it, from the schema that MikroORM makes. */
  readonly schema: (sql: string) => string;
};

const ON_POSTGRESQL: Kind = {
  dialect: POSTGRESQL,
  types: { integer: 'bigint', collation: 'C' },
  settings: [],
  tables: (name) => `select count(*) as count from pg_class where oid = to_regclass('${name}')`,
  schema: (sql) => sql,
};

/** A power cut may take the last moments, and never corrupts the file: `synchronous` has an effect at checkpoints only. */
const ON_SQLITE: Kind = {
  dialect: SQLITE,
  types: { integer: 'integer', collation: null },
  settings: ['pragma journal_mode = wal', 'pragma synchronous = normal', 'pragma foreign_keys = on'],
  tables: (name) => `select count(*) as count from sqlite_schema where name = '${name}'`,
  // Each create of a table is a line.
  schema: (sql) => sql.replaceAll(/^(create table .*)\);$/gm, '$1) strict;'),
};

export type RecordsDatabase = {
  readonly records: Records;
  readonly em: SqlEntityManager;
  readonly close: () => Promise<void>;
};

/**
 * Opens a file of SQLite, and creates it if necessary. Several processes may use it.
 * @param path `:memory:` for none.
 * @param prefix of the names of tables, and of all that has a name in the schema
 */
export const openSqlite = (path: string, prefix = ''): Promise<RecordsDatabase> =>
  opened({ driver: SqliteDriver, dbName: path, driverOptions: new NodeSqliteDialect(path) }, ON_SQLITE, prefix);

export const openPostgresql = async (
  options: Extract<DatabaseOptions, { kind: 'postgresql' }>,
  prefix = '',
): Promise<RecordsDatabase> => opened(await ormOptions(options), ON_POSTGRESQL, prefix);

const opened = async (options: Partial<Options>, kind: Kind, prefix: string): Promise<RecordsDatabase> => {
  const orm = new MikroORM({
    ...options,
    entities: recordEntities(kind.types, prefix),
    ensureDatabase: false,
    allowGlobalContext: true,
    logger: () => undefined,
  });
  const kysely = (): Sql => orm.em.getKysely();
  await orm.connect();
  for (const setting of kind.settings) await kind.dialect.repeated(() => orm.em.execute(setting));
  await createTables(orm, kysely(), kind, prefix);
  return { records: mikroOrmRecords(kysely, kind.dialect, prefix), em: orm.em, close: () => orm.close() };
};

/** Creates the tables, unless there are some. Several processes may do so at the same time. */
const createTables = async (
  orm: MikroORM,
  db: Sql,
  { dialect, tables, schema }: Kind,
  prefix: string,
): Promise<void> => {
  const { CompiledQuery } = await import('kysely');
  const send = (to: Sql, text: string) => to.executeQuery<{ readonly count: unknown }>(CompiledQuery.raw(text));
  const hasTables = async (to: Sql) => Number((await send(to, tables(`${prefix}users`))).rows[0]?.count) > 0;
  if (await hasTables(db)) return;
  const statements = schema(await orm.schema.getCreateSchemaSQL({ wrap: false })).split(/;\n+/);
  await dialect.transact(db, async (transaction) => {
    if (await hasTables(transaction)) return;
    for (const statement of statements) if (statement.trim() !== '') await send(transaction, statement);
  });
};
