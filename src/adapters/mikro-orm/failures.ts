import { violation } from '../../application/storage/records.ts';
import { AppError } from '../../domain/errors/app-error.ts';
import { reasonOf, withFramesOf } from '../log/redact-error.ts';
import { ConflictError, publishDatabaseFailure } from '../records/units.ts';
import type { SqlTable } from './statements.ts';

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
