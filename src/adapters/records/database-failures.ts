import { channel } from 'node:diagnostics_channel';

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
export const publishDatabaseFailure = (reason: string): void =>
  failures.publish(CLASSES.find(([, words]) => words.test(reason))?.[0] ?? 'other');

/** @returns a function that ends it. */
export const onDatabaseFailure = (listener: (failure: string) => void): (() => void) => {
  const listen = (failure: unknown) => listener(String(failure));
  failures.subscribe(listen);
  return () => void failures.unsubscribe(listen);
};
