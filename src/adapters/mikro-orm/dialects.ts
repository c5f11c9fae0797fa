import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import { CompiledQuery, type DatabaseConnection } from 'kysely';
import { violation } from '../../application/storage/records.ts';
import { AppError } from '../../domain/errors/app-error.ts';
import { monotonicTime, random } from '../clock/system.ts';
import { reasonOf, withFramesOf } from '../log/redact-error.ts';
import { ConflictError, publishDatabaseFailure } from '../records/storage.ts';
import type { SearchIndex } from './search.ts';
import type { Connection, Execute, RowLock, Sql, SqlTable, StatementDialect } from './statements.ts';

/** How a kind of database differs from the others when statements and transactions run. */
export type SqlDialect = StatementDialect & {
  /** The database's name in OpenTelemetry. */
  readonly system: 'postgresql' | 'sqlite' | 'mariadb' | 'mysql';
  /** Calls `send`, and for ten seconds again after a conflict, or while the database is busy. `send` must not be a part of a transaction. */
  readonly withRetry: <Result>(send: () => Promise<Result>) => Promise<Result>;
  /** Runs work in a transaction on a connection of its own. */
  readonly transact: <Result>(db: Sql, work: (transaction: Connection) => Promise<Result>) => Promise<Result>;
  /** Whether a transaction may send a statement before the former one is answered. */
  readonly pipelines: boolean;
  /** How rows are locked; `null` outside of transactions, and on SQLite, where only one transaction writes at a time. */
  readonly rowLock: RowLock;
  readonly returnsDeleted: boolean;
  readonly search: SearchIndex;
  readonly failureOf: (error: unknown) => Failure;
};

/** The meaning of a driver's error. `index` names the violated unique index, or its columns. `busy`: SQLITE_BUSY or SQLITE_LOCKED. */
export type Failure =
  | { readonly kind: 'violation'; readonly index: string }
  | { readonly kind: 'conflict' | 'busy' | 'other' };

export const memberOf = (error: unknown, name: string): unknown =>
  typeof error === 'object' && error !== null ? Reflect.get(error, name) : undefined;

/** Replaces drivers' errors. They do not become the `cause`, since they may quote values. @param table the table whose unique indexes may be violated */
export const errorTranslator =
  (failureOf: (error: unknown) => Failure) =>
  async <Result>(work: () => Promise<Result>, table?: SqlTable): Promise<Result> => {
    try {
      return await work();
    } catch (error) {
      throw toAppError(error, failureOf(error), table);
    }
  };

/** The SQLSTATE in_failed_sql_transaction. It only follows from the failure of an earlier statement of the transaction. */
const IN_FAILED_TRANSACTION = '25P02';

const toAppError = (error: unknown, failure: Failure, table?: SqlTable): AppError => {
  if (error instanceof AppError) return error;
  if (failure.kind === 'violation') return violation(table?.uniques.get(failure.index) ?? failure.index);
  const reason = sqliteReason(error) ?? `${reasonOf(error)}${mysqlNumber(error)}`;
  if (memberOf(error, 'code') !== IN_FAILED_TRANSACTION) publishDatabaseFailure(reason);
  // A busy database gives no ConflictError: the unit would be repeated, and could wait for ten seconds each time (`withRetry`).
  const isConflict = failure.kind === 'conflict';
  return withFramesOf(error, isConflict ? new ConflictError(reason) : new AppError('DB_QUERY_FAILED', { reason }));
};

/** The number of an error of MariaDB or MySQL, for the `reason`: the driver has no names for some errors. */
const mysqlNumber = (error: unknown): string => {
  const number = memberOf(error, 'errno');
  return typeof number === 'number' && memberOf(error, 'sqlState') !== undefined ? ` ${number}` : '';
};

/** The beginning of SQLite's message about a missing table or column, without its name. */
const MISSING_OBJECT = /^no such (?:table|column)/;

/** SQLite's result code, and `MISSING_OBJECT` or the text of this code, which quote no value; `undefined` if the error is not of SQLite. */
const sqliteReason = (error: unknown): string | undefined => {
  const [code, text] = [memberOf(error, 'errcode'), memberOf(error, 'errstr')];
  if (typeof code !== 'number') return undefined;
  return `SQLite ${code} (${MISSING_OBJECT.exec(String(memberOf(error, 'message')))?.[0] ?? text})`;
};

const LONGEST_WAIT_MS = 10_000;

/** Waits by a timer between two attempts, since `busy_timeout` of SQLite would block the thread. */
const retryWhileBusy =
  (failureOf: SqlDialect['failureOf']): SqlDialect['withRetry'] =>
  async (send) => {
    const end = monotonicTime() + LONGEST_WAIT_MS;
    for (;;) {
      try {
        return await send();
      } catch (error) {
        const { kind } = failureOf(error);
        if ((kind !== 'conflict' && kind !== 'busy') || monotonicTime() > end) throw error;
        await pause(1 + 9 * random());
      }
    }
  };

/** `begun` resolves when the transaction has begun. `execute` may be called before that. */
type StartedTransaction = { readonly begun: Promise<unknown>; readonly execute: Execute };
type Begin = (connection: DatabaseConnection) => StartedTransaction | Promise<StartedTransaction>;

const inTransaction = <Result>(
  db: Sql,
  begin: Begin,
  work: (transaction: Connection) => Promise<Result>,
): Promise<Result> =>
  db.connection().execute(async (singleConnection) => {
    // Kysely's own transactions are not used, since they send a statement only after the former statement was answered.
    const connection = await singleConnection.getExecutor().provideConnection(async (each) => each);
    try {
      const { begun, execute } = await begin(connection);
      const result = await work({ db: singleConnection, execute });
      await begun;
      await connection.executeQuery(CompiledQuery.raw('commit'));
      return result;
    } catch (error) {
      // `rollback` may fail as well, for instance if the connection is broken, or SQLite has ended the transaction itself because the disk is full.
      await connection.executeQuery(CompiledQuery.raw('rollback')).catch(() => undefined);
      throw error;
    }
  });

const beginBy =
  (statement: string): Begin =>
  async (connection) => {
    await connection.executeQuery(CompiledQuery.raw(statement));
    return { begun: Promise.resolve(), execute: (query) => connection.executeQuery(query) };
  };

/** Sends the first reads together with `begin`. A change waits until the transaction has begun: otherwise it would be stored even if `begin` failed. */
const beginWithReads =
  (statement: string): Begin =>
  (connection) => {
    let [hasBegun, waiting] = [false, 0];
    const begun = connection.executeQuery(CompiledQuery.raw(statement)).then(() => {
      hasBegun = true;
    });
    // `begun` may reject before `inTransaction` awaits it, which must not count as an unhandled rejection.
    begun.catch(() => undefined);
    const execute: Execute = async (query, reads) => {
      if ((!hasBegun && !reads) || waiting > 0) {
        waiting += 1;
        await begun;
        waiting -= 1;
      }
      return connection.executeQuery(query);
    };
    return { begun, execute };
  };

/** SQLSTATEs (PostgreSQL manual, appendix A): serialization_failure, deadlock_detected. */
const POSTGRESQL_CONFLICTS: readonly unknown[] = ['40001', '40P01'];

const postgresqlFailure = (error: unknown): Failure => {
  const code = memberOf(error, 'code');
  if (code === '23505') return { kind: 'violation', index: String(memberOf(error, 'constraint')) };
  return { kind: POSTGRESQL_CONFLICTS.includes(code) ? 'conflict' : 'other' };
};

/**
 * READ COMMITTED, whatever the default of the database is: each statement sees what was committed before it. The limit of idle time (ms) is set for the
 * transaction alone (`local`), since a pooler may give the session to other clients afterwards (ADR 0035).
 */
const BEGIN = `begin isolation level read committed; set local idle_in_transaction_session_timeout = 10000`;

export const POSTGRESQL: SqlDialect = {
  system: 'postgresql',
  withRetry: retryWhileBusy(postgresqlFailure),
  transact: (db, work) => inTransaction(db, beginWithReads(BEGIN), work),
  pipelines: true,
  rowLock: 'no key update',
  returnsDeleted: true,
  booleanToSql: (value) => value,
  equalsAreRanges: false,
  search: 'pg_trgm',
  failureOf: postgresqlFailure,
};

/** SQLite's message names the columns of the unique index, such as `users.email`. */
const SQLITE_VIOLATION = /^UNIQUE constraint failed: (.+)$/;
/** Primary result codes, https://sqlite.org/rescode.html: SQLITE_BUSY and SQLITE_LOCKED. */
const SQLITE_BUSY: readonly number[] = [5, 6];

const sqliteFailure = (error: unknown): Failure => {
  const [, index] = SQLITE_VIOLATION.exec(error instanceof Error ? error.message : '') ?? [];
  if (index !== undefined) return { kind: 'violation', index };
  return { kind: SQLITE_BUSY.includes(Number(memberOf(error, 'errcode')) & 0xff) ? 'busy' : 'other' };
};

/** Milliseconds. SQLite answers on the calling thread, so a loop of statements or transactions must pause for timers and sockets. */
const LONGEST_TURN = 20;
let lastTurnAt = 0;

const retryOnSqlite = retryWhileBusy(sqliteFailure);
const retryBetweenTurns: SqlDialect['withRetry'] = async (send) => {
  if (monotonicTime() - lastTurnAt >= LONGEST_TURN) {
    await nextTurn();
    lastTurnAt = monotonicTime();
  }
  return retryOnSqlite(send);
};

export const SQLITE: SqlDialect = {
  system: 'sqlite',
  withRetry: retryBetweenTurns,
  // `immediate` takes the lock for writing at the beginning, so that no other process changes what the transaction has read. While another process has
  // the lock, the connection is free for reads between two attempts.
  transact: (db, work) => retryBetweenTurns(() => inTransaction(db, beginBy('begin immediate'), work)),
  pipelines: false,
  rowLock: null,
  returnsDeleted: true,
  booleanToSql: Number,
  equalsAreRanges: false,
  search: 'fts5',
  failureOf: sqliteFailure,
};

/** ER_UNKNOWN_COM_ERROR: the node is not connected to its Galera cluster, and refuses to read and write. */
export const NODE_NOT_READY = 1047;
/**
 * Error numbers of MariaDB and MySQL: ER_CHECKREAD, ER_LOCK_DEADLOCK (also if another node of a cluster has committed first), `NODE_NOT_READY`.
 * ER_LOCK_WAIT_TIMEOUT is not among them, since by default it rolls back only the statement, and not the transaction.
 */
const MYSQL_CONFLICTS: readonly unknown[] = [1020, 1213, NODE_NOT_READY];
/** The message of ER_DUP_ENTRY ends with the name of the index. MySQL puts the name of the table before it. */
const MYSQL_DUPLICATE = / for key '(?:[^'.]+\.)?([^'.]+)'$/;

const mysqlFailure = (error: unknown): Failure => {
  const number = memberOf(error, 'errno');
  const [, index] = (number === 1062 && MYSQL_DUPLICATE.exec(String(memberOf(error, 'sqlMessage')))) || [];
  if (index !== undefined) return { kind: 'violation', index };
  return { kind: MYSQL_CONFLICTS.includes(number) ? 'conflict' : 'other' };
};

export const MARIADB: SqlDialect = {
  system: 'mariadb',
  withRetry: retryWhileBusy(mysqlFailure),
  transact: (db, work) => inTransaction(db, beginBy('begin'), work),
  pipelines: false,
  rowLock: 'update',
  returnsDeleted: true,
  booleanToSql: Number,
  equalsAreRanges: true,
  search: null,
  failureOf: mysqlFailure,
};
export const MYSQL: SqlDialect = { ...MARIADB, system: 'mysql', returnsDeleted: false };
