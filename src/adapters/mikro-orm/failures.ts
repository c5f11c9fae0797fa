import { AppError } from '../../domain/errors/app-error.ts';
import { reasonOf, withFramesOf } from '../log/redact-error.ts';
import { publishDatabaseFailure } from '../records/database-failures.ts';
import { ConflictError, violation } from '../records/records.ts';
import type { SqlTable } from './statements.ts';

/** What an error of a driver says. */
export type Failure =
  /** A unique index, as the database names it. */
  | { readonly kind: 'violation'; readonly index: string }
  | { readonly kind: 'conflict' }
  /** Another process writes. Nothing was done. */
  | { readonly kind: 'busy' }
  | { readonly kind: 'other' };

/** A field of any thrown value. */
export const field = (error: unknown, name: string): unknown =>
  typeof error === 'object' && error !== null ? Reflect.get(error, name) : undefined;

/** SQLSTATEs (PostgreSQL manual, appendix A): serialization_failure, deadlock_detected. */
const CONFLICTS: readonly unknown[] = ['40001', '40P01'];

export const postgresqlFailure = (error: unknown): Failure => {
  const code = field(error, 'code');
  if (code === '23505') return { kind: 'violation', index: String(field(error, 'constraint')) };
  return { kind: CONFLICTS.includes(code) ? 'conflict' : 'other' };
};

/** Names the columns of the index: `users.email`. */
const VIOLATION = /^UNIQUE constraint failed: (.+)$/;

/** Primary result codes, https://sqlite.org/rescode.html: SQLITE_BUSY and SQLITE_LOCKED. */
const BUSY: readonly number[] = [5, 6];

export const sqliteFailure = (error: unknown): Failure => {
  const [, index] = VIOLATION.exec(error instanceof Error ? error.message : '') ?? [];
  if (index !== undefined) return { kind: 'violation', index };
  return { kind: BUSY.includes(Number(field(error, 'errcode')) & 0xff) ? 'busy' : 'other' };
};

/** Error numbers of MariaDB and MySQL: ER_CHECKREAD, ER_LOCK_DEADLOCK. After ER_LOCK_WAIT_TIMEOUT, the rest of the transaction is still there. */
const MYSQL_CONFLICTS: readonly unknown[] = [1020, 1213];
/** ER_DUP_ENTRY ends with the name of the index, in MySQL after that of its table. The value before it may contain anything. */
const DUPLICATE = / for key '(?:[^'.]+\.)?([^'.]+)'$/;

export const mysqlFailure = (error: unknown): Failure => {
  const number = field(error, 'errno');
  const [, index] = (number === 1062 && DUPLICATE.exec(String(field(error, 'sqlMessage')))) || [];
  if (index !== undefined) return { kind: 'violation', index };
  return { kind: MYSQL_CONFLICTS.includes(number) ? 'conflict' : 'other' };
};

/**
 * Without a `cause`: errors of drivers quote values.
 * @param table of the statement; none if the error is that of a transaction.
 */
export const translatedBy =
  (failureOf: (error: unknown) => Failure) =>
  (error: unknown, table?: SqlTable): AppError => {
    if (error instanceof AppError) return error;
    const failure = failureOf(error);
    if (failure.kind === 'violation') return violation(table?.uniques.get(failure.index) ?? failure.index);
    const reason = sqliteReason(error) ?? `${reasonOf(error)}${mysqlNumber(error)}`;
    publishDatabaseFailure(reason);
    // Not one that is busy: what waits for it has waited long enough, and a transaction would wait as long again each time.
    const isConflict = failure.kind === 'conflict';
    return withFramesOf(error, isConflict ? new ConflictError(reason) : new AppError('DB_QUERY_FAILED', { reason }));
  };

/** The number of an error of MariaDB or MySQL: the driver has no name for some of MariaDB. */
const mysqlNumber = (error: unknown): string => {
  const number = field(error, 'errno');
  return typeof number === 'number' && field(error, 'sqlState') !== undefined ? ` ${number}` : '';
};

/** The beginning of a message about tables of another version, without their names. */
const OTHER_TABLES = /^no such (?:table|column)/;

/** The result code, and its text, which is the same for every error of the code; `undefined` for an error of another kind. */
const sqliteReason = (error: unknown): string | undefined => {
  const [code, text] = [field(error, 'errcode'), field(error, 'errstr')];
  if (typeof code !== 'number') return undefined;
  return `SQLite ${code} (${OTHER_TABLES.exec(String(field(error, 'message')))?.[0] ?? text})`;
};
