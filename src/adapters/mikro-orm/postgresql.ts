import { type CompiledQuery, Kysely, PostgresDialect, type PostgresQueryResult } from 'kysely';
import { reasonOf } from '../log/redact-error.ts';
import { memberOf, POSTGRESQL } from './dialects.ts';
import { postgresqlLogin } from './one-statement-login.ts';
import { postgresqlSessions } from './one-statement-sessions.ts';
import type { DatabaseKind, ServerOptions } from './options.ts';
import { openPool, type Pool, type PooledConnection } from './postgresql-pool.ts';
import type { Execute, Row } from './statements.ts';

/** Statements. The number is small, since a statement that waits for a lock delays its whole batch, and larger batches were not faster. */
const BATCH_SIZE = 4;

type WaitingStatement = {
  readonly query: CompiledQuery;
  readonly resolve: (answer: PostgresQueryResult<Row>) => void;
  readonly reject: (error: unknown) => void;
};

/**
 * Sends short statements outside of transactions. While all connections are in use, up to four statements wait as a batch for a connection. Without a
 * pooler, one system call writes them all, and often one reads all answers. No statement joins a batch that was sent: the connection might never return
 * to the pool. A batch runs in the asynchronous context of its first statement, so statements of a unit must not join one.
 */
const statementBatcher = (pool: Pool) => {
  let openBatch: WaitingStatement[] = [];
  let joinedCount = 0;
  let isBehindPooler = false;
  const connect = (batch: WaitingStatement[]): void => {
    const stopJoining = () => {
      if (openBatch === batch) openBatch = [];
      joinedCount -= batch.length - 1;
    };
    pool.connect().then(
      (client) => {
        stopJoining();
        isBehindPooler = !client.hasOwnSession;
        return sendAll(client, batch);
      },
      (error) => {
        stopJoining();
        for (const { reject } of batch) reject(error);
      },
    );
  };
  const add = (statement: WaitingStatement): void => {
    if (pool.hasFreeConnection() || isBehindPooler) connect([statement]);
    else if (openBatch.length > 0 && openBatch.length < BATCH_SIZE) {
      joinedCount += 1;
      openBatch.push(statement);
    } else {
      openBatch = [statement];
      connect(openBatch);
    }
  };
  const execute: Execute = async (query) => {
    const { rowCount, rows } = await new Promise<PostgresQueryResult<Row>>((resolve, reject) =>
      add({ query, resolve, reject }),
    );
    return { numAffectedRows: BigInt(rowCount ?? 0), rows };
  };
  return {
    execute,
    /** How many statements wait in a batch behind its first one, which alone is in the pool's queue. */
    countJoined: () => joinedCount,
  };
};

/** Sends a batch over a connection, which is released before the caller of the last statement gets its answer. */
const sendAll = async (client: PooledConnection, batch: readonly WaitingStatement[]): Promise<void> => {
  let unanswered = batch.length;
  const send = async ({ sql, parameters }: CompiledQuery): Promise<PostgresQueryResult<Row>> => {
    try {
      return await client.query(sql, parameters);
    } finally {
      unanswered -= 1;
      if (unanswered === 0) client.release();
    }
  };
  for (const { query, resolve, reject } of batch) {
    const answered = send(query).then(resolve, reject);
    // A pooler may give the session to another client after each answer. If more were sent and this connection broke, that client would get the other answers.
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
      const { execute, countJoined } = statementBatcher(pool);
      return {
        db: new Kysely({ dialect: new PostgresDialect({ pool }) }),
        execute,
        connections: () => ({ ...pool.state(), waiting: pool.state().waiting + countJoined() }),
      };
    },
    async orm() {
      const { PostgreSqlDriver } = await import('@mikro-orm/postgresql');
      return { driver: PostgreSqlDriver, dbName, driverOptions: { connectionString: options.url } };
    },
    settingStatements: [],
    probeQuery: `select format($$${WRONG_ENCODING_MESSAGE}$$, encoding) as unfit from getdatabaseencoding() as encoding where encoding <> 'UTF8'`,
    // PostgreSQL makes new tables in the first schema of the search_path. Those of the service may be in another one, which was the first one before.
    tablesQuery: `select relname as name, nspname = current_schema()
      or relnamespace = (select relnamespace from pg_class where oid = to_regclass('"${options.tablePrefix}tandem_migrations"')) as is_here
    from pg_class join pg_namespace on pg_namespace.oid = relnamespace
    where relkind in ('r', 'p', 'v', 'm', 'f') and pg_table_is_visible(pg_class.oid)`,
    // `fillfactor` leaves room for new versions of rows in the pages of the table, so that a refresh seldom writes to an index (ADR 0035).
    completeSchema: (statements) => [
      ...statements,
      `alter table "${options.tablePrefix}sessions" set (fillfactor = 85)`,
    ],
    fasterSessions: (connection, plain, prefix) => ({
      ...postgresqlSessions(connection, plain, prefix),
      ...postgresqlLogin(connection, prefix),
    }),
    timeQuery: `select extract(epoch from clock_timestamp())::float8 * 1000 as now`,
    aboutQuery: `select 'PostgreSQL ' || current_setting('server_version') as version,
    coalesce(has_schema_privilege(current_schema(), 'create'), false) and not current_setting('transaction_read_only')::boolean as may_create`,
    emptyWrite: (tables) =>
      `with ${tables.map((name) => `${name}_ as (delete from ${name} where false)`).join(', ')} select 1`,
    openFailure: (error) => `The database of DATABASE_URL cannot be opened: ${openProblem(error)}`,
  };
};

/** The text is ASCII, so that a server of any encoding can return it. */
const WRONG_ENCODING_MESSAGE = `The database of DATABASE_URL has the encoding %s, and needs UTF8: make one by "create database NAME encoding 'UTF8' template template0", and set DATABASE_URL to it`;

const databaseName = (url: string): string => {
  const [, name = ''] = /^[^:]+:\/\/[^/]*\/([^?#]+)/.exec(url) ?? [];
  if (name === '') throw new Error('DATABASE_URL names no database');
  return decodeURIComponent(name);
};

const openProblem = (error: unknown): string => {
  // The SQLSTATE invalid_schema_name.
  if (memberOf(error, 'code') === '3F000') return 'no schema of the search_path exists';
  // `pg` reads the files of certificates when it connects.
  if (memberOf(error, 'syscall') === 'open')
    return `${memberOf(error, 'code')}: a file that sslrootcert, sslcert or sslkey names cannot be read`;
  // This message of PgBouncer quotes the name of the parameter, and not its value.
  const [, name] = /unsupported startup parameter: ([a-z_]{1,63})\b/.exec(String(memberOf(error, 'message'))) ?? [];
  if (name === undefined) return reasonOf(error);
  return `the pooler refuses the startup parameter ${name}; remove it from DATABASE_URL or from the PG* variables`;
};
