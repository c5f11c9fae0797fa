import { Kysely, PostgresDialect } from 'kysely';
import { reasonOf } from '../log/redact-error.ts';
import { POSTGRESQL } from './dialects.ts';
import { field } from './failures.ts';
import { postgresqlSessions } from './one-statement-sessions.ts';
import type { DatabaseKind, ServerOptions } from './options.ts';
import { openPool } from './postgresql-pool.ts';
import { sharingConnections } from './sharing-connections.ts';

export const postgresqlKind = (options: ServerOptions): DatabaseKind => {
  const dbName = databaseName(options.url);
  return {
    dialect: POSTGRESQL,
    types: { integer: 'bigint', text: 'text', indexedText: 'text', collation: 'C', tableOptions: '' },
    async connect() {
      const pool = openPool(options);
      const { execute, joined } = sharingConnections(pool);
      return {
        db: new Kysely({ dialect: new PostgresDialect({ pool }) }),
        execute,
        connections: () => ({ ...pool.state(), waiting: pool.state().waiting + joined() }),
      };
    },
    async orm() {
      const { PostgreSqlDriver } = await import('@mikro-orm/postgresql');
      return { driver: PostgreSqlDriver, dbName, driverOptions: { connectionString: options.url } };
    },
    settings: [],
    probe: `select format($$${OTHER_ENCODING}$$, encoding) as unfit from getdatabaseencoding() as encoding where encoding <> 'UTF8'`,
    // Statements find the tables of all schemas in the search_path, and make new ones in the first that exists.
    tables: `select relname as name, nspname = current_schema() as is_here from pg_class
    join pg_namespace on pg_namespace.oid = relnamespace
    where relkind in ('r', 'p', 'v', 'm', 'f') and pg_table_is_visible(pg_class.oid)`,
    // Pages of sessions keep room for new versions of their rows, so that a refresh writes no index (ADR 0019).
    schema: (statements) => [...statements, `alter table "${options.tablePrefix}sessions" set (fillfactor = 85)`],
    sessions: postgresqlSessions,
    time: `select extract(epoch from clock_timestamp())::float8 * 1000 as now`,
    about: `select 'PostgreSQL ' || current_setting('server_version') as version,
    coalesce(has_schema_privilege(current_schema(), 'create'), false) and not current_setting('transaction_read_only')::boolean as may_create`,
    writesNothing: (tables) =>
      `with ${tables.map((name) => `${name}_ as (delete from ${name} where false)`).join(', ')} select 1`,
    openFailure: (error) =>
      `The database of DATABASE_URL cannot be opened: ${noSchema(error) ?? refusedParameter(error) ?? unreadableFile(error) ?? reasonOf(error)}`,
  };
};

/** In ASCII, which the server has in any encoding. */
const OTHER_ENCODING = `The database of DATABASE_URL has the encoding %s, and needs UTF8: make one by "create database NAME encoding 'UTF8' template template0", and set DATABASE_URL to it`;

const databaseName = (url: string): string => {
  const [, name = ''] = /^[^:]+:\/\/[^/]*\/([^?#]+)/.exec(url) ?? [];
  if (name === '') throw new Error('DATABASE_URL names no database');
  return decodeURIComponent(name);
};

/** invalid_schema_name: the search_path names no schema that exists, so tables can be created in none. */
const noSchema = (error: unknown): string | undefined =>
  field(error, 'code') === '3F000' ? 'no schema of the search_path exists' : undefined;

/** PgBouncer refuses a connection with an unknown startup parameter. Its message contains the name, and no value. */
const refusedParameter = (error: unknown): string | undefined => {
  const [, name] =
    /unsupported startup parameter: ([a-z_]{1,63})\b/.exec(error instanceof Error ? error.message : '') ?? [];
  return (
    name && `the pooler refuses the startup parameter ${name}; remove it from DATABASE_URL or from the PG* variables`
  );
};

/** The driver reads the files of a certificate when it connects. */
const unreadableFile = (error: unknown): string | undefined =>
  field(error, 'syscall') === 'open'
    ? `${field(error, 'code')}: a file that sslrootcert, sslcert or sslkey names cannot be read`
    : undefined;
