import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import { CompiledQuery, type DatabaseConnection } from 'kysely';
import { violation } from '../../application/storage/records.ts';
import { AppError } from '../../domain/errors/app-error.ts';
import { monotonicTime, random } from '../clock/system.ts';
import { reasonOf, withFramesOf } from '../log/redact-error.ts';
import { ConflictError, publishDatabaseFailure } from '../records/storage.ts';
import type { SearchIndex } from './search.ts';
import type { Connection, Execute, RowLock, Sql, SqlTable, StatementDialect } from './statements.ts';

/** What differs between the databases. */
export type SqlDialect = StatementDialect & {
  /** As OpenTelemetry calls the database. */
  readonly system: 'postgresql' | 'sqlite' | 'mariadb' | 'mysql';
  /** Sends a statement outside of transactions, and again after a conflict or while the database is busy. */
  readonly repeated: <Result>(send: () => Promise<Result>) => Promise<Result>;
  /** Runs work in a transaction on a connection of its own. */
  readonly transact: <Result>(db: Sql, work: (transaction: Connection) => Promise<Result>) => Promise<Result>;
  /** Whether a transaction sends a statement before the one before it is answered. */
  readonly pipelines: boolean;
  /** How a transaction locks a row; `null` where only one transaction writes at a time. */
  readonly rowLock: RowLock;
  /** Whether `delete` can return what it has deleted. */
  readonly returnsDeleted: boolean;
  readonly search: SearchIndex;
  readonly failureOf: (error: unknown) => Failure;
};

/** What an error of a driver means. `index` is a unique one, as the database names it. `busy`: another process writes, and nothing was done. */
export type Failure =
  | { readonly kind: 'violation'; readonly index: string }
  | { readonly kind: 'conflict' | 'busy' | 'other' };

/** A field of any thrown value. */
export const field = (error: unknown, name: string): unknown =>
  typeof error === 'object' && error !== null ? Reflect.get(error, name) : undefined;

/** Translates errors, without a `cause`, since those of drivers quote values. @param table of the statement; none for a transaction */
export const translatedBy =
  (failureOf: (error: unknown) => Failure) =>
  async <Result>(work: () => Promise<Result>, table?: SqlTable): Promise<Result> => {
    try {
      return await work();
    } catch (error) {
      throw toAppError(error, failureOf(error), table);
    }
  };

/** in_failed_sql_transaction: an earlier statement has failed, and was counted. */
const FOLLOWS_FAILURE = '25P02';

const toAppError = (error: unknown, failure: Failure, table?: SqlTable): AppError => {
  if (error instanceof AppError) return error;
  if (failure.kind === 'violation') return violation(table?.uniques.get(failure.index) ?? failure.index);
  const reason = sqliteReason(error) ?? `${reasonOf(error)}${mysqlNumber(error)}`;
  if (field(error, 'code') !== FOLLOWS_FAILURE) publishDatabaseFailure(reason);
  // A busy database is no conflict: the caller has waited for it already, and would wait as long again with each repetition.
  const isConflict = failure.kind === 'conflict';
  return withFramesOf(error, isConflict ? new ConflictError(reason) : new AppError('DB_QUERY_FAILED', { reason }));
};

/** The number of an error of MariaDB or MySQL, since the driver has no name for some. */
const mysqlNumber = (error: unknown): string => {
  const number = field(error, 'errno');
  return typeof number === 'number' && field(error, 'sqlState') !== undefined ? ` ${number}` : '';
};

/** The beginning of a message, without the name of the table. */
const OTHER_TABLES = /^no such (?:table|column)/;

/** The result code and SQLite's text for this code, which quotes no value; `undefined` for an error of something else. */
const sqliteReason = (error: unknown): string | undefined => {
  const [code, text] = [field(error, 'errcode'), field(error, 'errstr')];
  if (typeof code !== 'number') return undefined;
  return `SQLite ${code} (${OTHER_TABLES.exec(String(field(error, 'message')))?.[0] ?? text})`;
};

const LONGEST_WAIT_MS = 10_000;

/** Waits between two attempts without blocking the thread. `busy_timeout` of SQLite would block it. */
const repeatedAfter =
  (failureOf: SqlDialect['failureOf']): SqlDialect['repeated'] =>
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

/** `begun` resolves when the transaction has begun. `execute` may be called before. */
type StartedTransaction = { readonly begun: Promise<unknown>; readonly execute: Execute };
type Begin = (connection: DatabaseConnection) => StartedTransaction | Promise<StartedTransaction>;

const inTransaction = <Result>(
  db: Sql,
  begin: Begin,
  work: (transaction: Connection) => Promise<Result>,
): Promise<Result> =>
  db.connection().execute(async (held) => {
    // Kysely's own transactions send a statement only after the one before it was answered.
    const connection = await held.getExecutor().provideConnection(async (each) => each);
    try {
      const { begun, execute } = await begin(connection);
      const result = await work({ db: held, execute });
      await begun;
      await connection.executeQuery(CompiledQuery.raw('commit'));
      return result;
    } catch (error) {
      // It fails if the transaction has not begun, or if SQLite has ended it by itself, for example when the disk is full.
      await connection.executeQuery(CompiledQuery.raw('rollback')).catch(() => undefined);
      throw error;
    }
  });

const begunBy =
  (statement: string): Begin =>
  async (connection) => {
    await connection.executeQuery(CompiledQuery.raw(statement));
    return { begun: Promise.resolve(), execute: (query) => connection.executeQuery(query) };
  };

/** Sends the first reads together with `begin`. A change waits until the transaction has begun: it would be stored if `begin` failed. */
const begunWith =
  (statement: string): Begin =>
  (connection) => {
    let [hasBegun, waiting] = [false, 0];
    const begun = connection.executeQuery(CompiledQuery.raw(statement)).then(() => {
      hasBegun = true;
    });
    // `inTransaction` awaits it later.
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
  const code = field(error, 'code');
  if (code === '23505') return { kind: 'violation', index: String(field(error, 'constraint')) };
  return { kind: POSTGRESQL_CONFLICTS.includes(code) ? 'conflict' : 'other' };
};

/**
 * READ COMMITTED, whatever the default of the database: each statement sees what was committed before it. The time limit is set for the transaction
 * alone, since a pooler gives the session to other clients afterwards (ADR 0035).
 */
const BEGIN = `begin isolation level read committed; set local idle_in_transaction_session_timeout = 10000`;

export const POSTGRESQL: SqlDialect = {
  system: 'postgresql',
  repeated: repeatedAfter(postgresqlFailure),
  transact: (db, work) => inTransaction(db, begunWith(BEGIN), work),
  pipelines: true,
  rowLock: 'no key update',
  returnsDeleted: true,
  booleans: (value) => value,
  equalsAreRanges: false,
  search: 'pg_trgm',
  failureOf: postgresqlFailure,
};

/** The message names the columns of the index: `users.email`. */
const SQLITE_VIOLATION = /^UNIQUE constraint failed: (.+)$/;
/** Primary result codes, https://sqlite.org/rescode.html: SQLITE_BUSY and SQLITE_LOCKED. */
const SQLITE_BUSY: readonly number[] = [5, 6];

const sqliteFailure = (error: unknown): Failure => {
  const [, index] = SQLITE_VIOLATION.exec(error instanceof Error ? error.message : '') ?? [];
  if (index !== undefined) return { kind: 'violation', index };
  return { kind: SQLITE_BUSY.includes(Number(field(error, 'errcode')) & 0xff) ? 'busy' : 'other' };
};

/** Milliseconds. SQLite answers without waiting, so a loop of statements must pause for timers and sockets. */
const LONGEST_TURN = 20;
let turnAt = 0;

const repeatedOnSqlite = repeatedAfter(sqliteFailure);
const untilFree: SqlDialect['repeated'] = async (send) => {
  if (monotonicTime() - turnAt >= LONGEST_TURN) {
    await nextTurn();
    turnAt = monotonicTime();
  }
  return repeatedOnSqlite(send);
};

export const SQLITE: SqlDialect = {
  system: 'sqlite',
  repeated: untilFree,
  // `immediate` takes the lock for writing, so that what the work reads stays true until it writes. While another process has the lock, the
  // connection is free for reads between two attempts.
  transact: (db, work) => untilFree(() => inTransaction(db, begunBy('begin immediate'), work)),
  pipelines: false,
  rowLock: null,
  returnsDeleted: true,
  booleans: Number,
  equalsAreRanges: false,
  search: 'fts5',
  failureOf: sqliteFailure,
};

/** ER_UNKNOWN_COM_ERROR: the node has lost its Galera cluster, and executes no statement. */
export const NOT_READY = 1047;
/**
 * Error numbers of MariaDB and MySQL: ER_CHECKREAD, ER_LOCK_DEADLOCK (also when another node of a cluster has committed first). ER_LOCK_WAIT_TIMEOUT
 * is none of them, since it undoes the statement alone, and not the transaction.
 */
const MYSQL_CONFLICTS: readonly unknown[] = [1020, 1213, NOT_READY];
/** The message of ER_DUP_ENTRY ends with the name of the index. MySQL puts the name of the table before it. */
const MYSQL_DUPLICATE = / for key '(?:[^'.]+\.)?([^'.]+)'$/;

const mysqlFailure = (error: unknown): Failure => {
  const number = field(error, 'errno');
  const [, index] = (number === 1062 && MYSQL_DUPLICATE.exec(String(field(error, 'sqlMessage')))) || [];
  if (index !== undefined) return { kind: 'violation', index };
  return { kind: MYSQL_CONFLICTS.includes(number) ? 'conflict' : 'other' };
};

export const MARIADB: SqlDialect = {
  system: 'mariadb',
  repeated: repeatedAfter(mysqlFailure),
  transact: (db, work) => inTransaction(db, begunBy('begin'), work),
  pipelines: false,
  rowLock: 'update',
  returnsDeleted: true,
  booleans: Number,
  equalsAreRanges: true,
  search: null,
  failureOf: mysqlFailure,
};
export const MYSQL: SqlDialect = { ...MARIADB, system: 'mysql', returnsDeleted: false };
