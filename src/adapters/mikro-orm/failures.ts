import { violation } from '../../application/storage/records.ts';
import { AppError } from '../../domain/errors/app-error.ts';
import { reasonOf, withFramesOf } from '../log/redact-error.ts';
import { ConflictError, publishDatabaseFailure } from '../records/units.ts';
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

/**
 * Translates the errors of work, without a `cause`: errors of drivers quote values.
 * @param table of the statement; none if the error is that of a transaction.
 */
export const translatedBy =
  (failureOf: (error: unknown) => Failure) =>
  async <Result>(work: () => Promise<Result>, table?: SqlTable): Promise<Result> => {
    try {
      return await work();
    } catch (error) {
      throw toAppError(error, failureOf(error), table);
    }
  };

/** in_failed_sql_transaction: the failure of an earlier statement was counted. */
const FOLLOWS_FAILURE = '25P02';

const toAppError = (error: unknown, failure: Failure, table?: SqlTable): AppError => {
  if (error instanceof AppError) return error;
  if (failure.kind === 'violation') return violation(table?.uniques.get(failure.index) ?? failure.index);
  const reason = sqliteReason(error) ?? `${reasonOf(error)}${mysqlNumber(error)}`;
  if (field(error, 'code') !== FOLLOWS_FAILURE) publishDatabaseFailure(reason);
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
