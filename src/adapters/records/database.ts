import { channel } from 'node:diagnostics_channel';
import { AppError } from '../../domain/errors/app-error.ts';
import { random } from '../clock/system.ts';

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
