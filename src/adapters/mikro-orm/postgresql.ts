import { type CompiledQuery, Kysely, PostgresDialect, type QueryResult } from 'kysely';
import { reasonOf } from '../log/redact-error.ts';
import { POSTGRESQL } from './dialects.ts';
import { field } from './failures.ts';
import { postgresqlLogin } from './one-statement-login.ts';
import { postgresqlSessions } from './one-statement-sessions.ts';
import type { DatabaseKind, ServerOptions } from './options.ts';
import { openPool, type Pool, type PooledConnection } from './postgresql-pool.ts';
import type { Execute } from './statements.ts';

/** Few, since one that waits for a lock keeps the others waiting. More of them make no difference to the time that they take. */
const BATCH_SIZE = 4;

type Answer = { readonly rowCount: number | null; readonly rows: unknown[] };

/** A statement that waits for a connection. */
type Waiting = {
  readonly query: CompiledQuery;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
};

/**
 * Sends short statements outside of transactions. While all connections are in use, those that wait share the next one, four at most: they are
 * written with one system call, and their answers are often read with one. None joins those that were sent: the connection would not return to
 * the pool, and transactions would get none. Callers are not in a unit, since all run in the context of the first.
 */
const sharingConnections = (pool: Pool) => {
  let joinable: Waiting[] = [];
  let joined = 0;
  let isPooled = false;
  const connect = (batch: Waiting[]): void => {
    const stopJoining = () => {
      if (joinable === batch) joinable = [];
      joined -= batch.length - 1;
    };
    pool.connect().then(
      (client) => {
        stopJoining();
        isPooled = !client.hasOwnSession;
        return sendAll(client, batch);
      },
      (error) => {
        stopJoining();
        for (const { reject } of batch) reject(error);
      },
    );
  };
  const add = (statement: Waiting): void => {
    if (pool.isOneFree() || isPooled) connect([statement]);
    else if (joinable.length > 0 && joinable.length < BATCH_SIZE) {
      joined += 1;
      joinable.push(statement);
    } else {
      joinable = [statement];
      connect(joinable);
    }
  };
  const execute: Execute = async <Row>(query: CompiledQuery<Row>): Promise<QueryResult<Row>> => {
    const { rowCount, rows } = await new Promise<Answer>((resolve, reject) => add({ query, resolve, reject }));
    return { numAffectedRows: BigInt(rowCount ?? 0), rows: rows as Row[] };
  };
  return {
    execute,
    /** How many statements wait for the connection that another one has asked for. */
    joined: () => joined,
  };
};

/** Returns the connection before the last caller goes on. */
const sendAll = async (client: PooledConnection, batch: readonly Waiting[]): Promise<void> => {
  let unanswered = batch.length;
  const send = async ({ sql, parameters }: CompiledQuery): Promise<Answer> => {
    try {
      return await client.query(sql, parameters);
    } finally {
      unanswered -= 1;
      if (unanswered === 0) client.release();
    }
  };
  for (const { query, resolve, reject } of batch) {
    const answered = send(query).then(resolve, reject);
    // Once one is answered, a pooler lends the session to others. They would get the answers that follow if this connection broke.
    if (!client.hasOwnSession) await answered;
  }
};

export const postgresqlKind = (options: ServerOptions): DatabaseKind => {
  const dbName = databaseName(options.url);
  return {
    dialect: POSTGRESQL,
    types: { integer: 'bigint', text: 'text', indexedText: 'text', collation: 'C' },
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
    // Statements find the tables of all schemas in the search_path, and make new ones in the first that exists: once, it was that of the others.
    tables: `select relname as name, nspname = current_schema()
      or relnamespace = (select relnamespace from pg_class where oid = to_regclass('"${options.tablePrefix}tandem_migrations"')) as is_here
    from pg_class join pg_namespace on pg_namespace.oid = relnamespace
    where relkind in ('r', 'p', 'v', 'm', 'f') and pg_table_is_visible(pg_class.oid)`,
    // Pages of sessions keep room for new versions of their rows, so that a refresh writes no index (ADR 0019).
    schema: (statements) => [...statements, `alter table "${options.tablePrefix}sessions" set (fillfactor = 85)`],
    sessions: (connection, plain, prefix) => ({
      ...postgresqlSessions(connection, plain, prefix),
      ...postgresqlLogin(connection, prefix),
    }),
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
