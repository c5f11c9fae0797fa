import { channel } from 'node:diagnostics_channel';
import type { EqualRow, OwnRecords, RowQuery, StoredRow } from '../../application/ports/own-records.ts';
import { AppError } from '../../domain/errors/app-error.ts';
import { random } from '../clock/system.ts';
import type { TableName, Tables } from './tables.ts';

export type Stored<Name extends TableName> = StoredRow<Tables[Name]>;
export type Equal<Name extends TableName> = EqualRow<Tables[Name]>;
export type Query<Name extends TableName> = RowQuery<Tables[Name]>;

/**
 * What a database has to be able to do; everything else is written once, over this. Rows are those of `TABLES`. What holds for concurrent
 * calls also holds for calls of several instances over one store.
 * - lists a row as it was inserted, with every type of value
 * - distinguishes texts by their letter case, by spaces at their ends, and by their last character
 * - lists the rows with given values, and only those
 * - lists the rows in a range of a column, and none that has null there
 * - lists in the order of columns, either way, and orders texts by their bytes
 * - leaves out the first rows, and lists at most as many as it is asked to
 * - lists every row that contains a text where its table is searched, and may list others
 * - rejects a second row with the same key, or the same values of a unique index, and names the index
 * - takes rows with null in a unique index for different
 * - rejects a row whose user is not stored, and stores nothing of it
 * - accepts exactly one of many concurrent inserts with the same key
 * - accepts exactly one of two inserts by two instances
 * - replaces a row that has not changed since it was read
 * - replaces no row that has changed since it was read, or is gone
 * - takes a row that was removed and inserted again for another
 * - rejects a replacement that violates a unique index, names it, and changes nothing
 * - accepts exactly one of many concurrent replacements
 * - accepts exactly one of two replacements by two instances
 * - removes the rows that have not changed since they were read, and returns them
 * - says of each row once that it was removed, however many remove it at the same time
 * - removes what goes with its user
 * - returns the row that it locks, and null for none
 * - keeps all changes of a unit when the work succeeds, and returns its result
 * - keeps none when the work rejects, and rejects with the same error
 * - shows the changes of a unit to itself alone until it ends
 * - makes other units that lock the same row wait, and shows them its changes
 * - keeps all changes or rejects, when the work goes on after a violation
 * - repeats a unit that goes on after a violation
 * - rejects a unit within another, calls of a unit to the records outside of it, and calls to one that is over
 * - carries out what the work has not waited for before the unit ends
 * - accepts one of two units that insert the same values of a unique index
 * - rejects the second of two rows of a unit with the same values of a unique index
 * - loses no change to a row that a unit and a call outside of it change
 * - keeps no row of a unit whose user is removed meanwhile
 * - finds nothing by a text that cannot be stored, and rejects a row that has one
 * - is not affected by changes to a row that it was given or has returned
 * - lists what another instance over the same store has written
 * - rejects with DB_QUERY_FAILED alone when its store fails, and repeats nothing that is stored
 *
 * A call that rejected with DB_QUERY_FAILED may have changed the store, or not. A text with NUL or with a lone surrogate is one that cannot
 * be stored. `json` values may contain any text.
 *
 * @example
 * const [row] = await records.list('users', { equal: { id } });
 * if (row !== undefined && (await records.replace('users', row, { ...row, locale }))) return;
 */
export interface Records extends OwnRecords<Tables> {
  /**
   * Runs work whose changes are kept all together, or not at all. A refused `insert` or `replace` fails the unit.
   * @param work uses the given records alone, and changes nothing else, since it may run several times: after a conflict with another unit, and
   *   after a call that follows a violation. So whoever finds out that somebody else was first may just begin again.
   * @throws what the work throws; AppError DB_QUERY_FAILED when it is not known whether the changes were kept, SYS_UNEXPECTED_ERROR
   *   within another unit.
   */
  unit<Result>(work: (records: Records) => Promise<Result>): Promise<Result>;
}

/** The error of a row that equals another in a unique index. @param index its name in `TABLES`, or `keyName` of the table. */
export const violation = (index: string): AppError => new AppError('DB_UNIQUE_VIOLATION', { reason: index });

/** Whether an error says that a row equals another in the index of this name. */
export const violates = (error: unknown, index: string): boolean =>
  error instanceof AppError && error.code === 'DB_UNIQUE_VIOLATION' && error.reason === index;

/** The error of a call that the store has undone because of a concurrent one: `unit` repeats the work. */
export class ConflictError extends AppError {
  constructor(reason: string) {
    super('DB_QUERY_FAILED', { reason });
  }
}

/** Whether a text can be stored by every database: some refuse NUL, and a lone surrogate has no UTF-8 encoding. */
export const isStorable = (value: unknown): boolean =>
  typeof value !== 'string' || (!value.includes('\0') && value.isWellFormed());

/** The error of a row with a text that cannot be stored. */
export const unstorable = (): AppError =>
  new AppError('DB_QUERY_FAILED', { reason: 'a text that cannot be stored: it has NUL or a lone surrogate' });

/** The version of a row that is inserted: random, so that it is not that of a row which had the same key. Each replacement adds 1. */
export const firstVersion = (): number => Math.floor(random() * 2 ** 47);

/**
 * Classes of failures, by SQLSTATE (PostgreSQL manual, appendix A), by the texts of SQLite's result codes, by the names and numbers of MySQL's
 * errors, by the codes of the system and the messages of drivers.
 */
const CLASSES = [
  ['read-only', /\b(?:25006|ER_OPTION_PREVENTS_STATEMENT|ER_READ_ONLY_MODE)\b|readonly database/],
  ['capacity', /\b(?:53\w{3}|ER_CON_COUNT_ERROR|ER_DISK_FULL|ER_RECORD_FILE_FULL)\b|disk is full/],
  ['timeout', /\b(?:57014|55P03|ER_LOCK_WAIT_TIMEOUT|1969|ER_QUERY_TIMEOUT)\b/],
  ['conflict', /\b(?:40\w{3}|ER_LOCK_DEADLOCK|ER_CHECKREAD)\b|is locked/],
  ['connection', /\b(?:08\w{3}|57P0\d|PROTOCOL_CONNECTION_LOST|E[A-Z]{4,}|EAI_AGAIN)\b|[Cc]onnect|queryable|closed/],
] as const;

export const DATABASE_FAILURES = [...CLASSES.map(([name]) => name), 'other'] as const;

/** Of the process, as its other metrics: no statement has to be told who counts. */
const failures = channel('tandem:database-failure');

/** @param reason of the error, as `reasonOf` has it. */
export const failureClassOf = (reason: string): (typeof DATABASE_FAILURES)[number] =>
  CLASSES.find(([, words]) => words.test(reason))?.[0] ?? 'other';

export const publishDatabaseFailure = (reason: string): void => failures.publish(failureClassOf(reason));

/** @returns a function that ends it. */
export const onDatabaseFailure = (listener: (failure: string) => void): (() => void) => {
  const listen = (failure: unknown) => listener(String(failure));
  failures.subscribe(listen);
  return () => void failures.unsubscribe(listen);
};
