import type { DatabaseSync } from 'node:sqlite';
import { AppError } from 'tandem';
import { inTransaction, translated } from './database.ts';

/** Where the statements of a repository go. The work is synchronous, and all or nothing of what it writes is kept. */
export type Connection = {
  readonly database: DatabaseSync;
  readonly read: <Result>(work: () => Result) => Promise<Result>;
  readonly write: <Result>(work: () => Result) => Promise<Result>;
};

/** Runs work when all work before it has ended. */
export type Mutex = <Result>(work: () => Promise<Result>) => Promise<Result>;

export const mutex = (): Mutex => {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const result = last.then(work);
    last = result.catch(() => undefined);
    return result;
  };
};

/**
 * Outside of units of work. Reads see what was committed, and wait for nobody. Writes wait for the unit of this process: SQLite would wait
 * for it on the main thread, on which the unit has to go on.
 */
export const connectionOf = (database: DatabaseSync, exclusively: Mutex): Connection => ({
  database,
  read: translated,
  write: (work) => exclusively(() => translated(() => inTransaction(database, work))),
});

/** Within a unit of work, which has a connection of its own: others do not write into its transaction. */
export const connectionOfUnit = (database: DatabaseSync): Connection => {
  const whileItLasts = async <Result>(work: () => Result): Promise<Result> => {
    // SQLite ends a transaction by itself when the disk is full. What came then would be kept alone.
    if (!database.isTransaction) throw new AppError('DB_QUERY_FAILED', { reason: 'the unit of work is over' });
    return translated(work);
  };
  return { database, read: whileItLasts, write: whileItLasts };
};
