import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import type { SqlEntityManager } from '@mikro-orm/sql';
import { AppError, duplicateUser } from '../../domain/errors/app-error.ts';
import { reasonOf, withFramesOf } from '../redaction/redact-error.ts';
import { publishDatabaseFailure } from '../resilience/database-failures.ts';
import { EMAIL_KEY, USERNAME_KEY } from './entities.ts';

/** Where a repository sends its statements: the entity manager of the database, or of one transaction. */
export type DatabaseAccess = { readonly em: SqlEntityManager };

/** Runs work in one transaction, which is rolled back when the work rejects. */
export type Transact = <Result>(work: (transaction: DatabaseAccess) => Promise<Result>) => Promise<Result>;

export type Transaction = {
  /** The first failed statement. PostgreSQL then treats the commit as a rollback, without an error. */
  failure: AppError | undefined;
  rejection: { readonly error: unknown } | undefined;
  readonly sent: Set<Promise<unknown>>;
};

const transactions = new AsyncLocalStorage<Transaction>();

export const inTransaction = (): boolean => transactions.getStore() !== undefined;

/** Remembers that a statement failed, if it belongs to a transaction. */
const noteFailure = (failure: AppError): void => {
  const transaction = transactions.getStore();
  if (transaction !== undefined) transaction.failure ??= failure;
};

/** Remembers a statement until it ends, if it belongs to a transaction. */
const noteStatement = (answer: Promise<unknown>): void => {
  const sent = transactions.getStore()?.sent;
  if (sent === undefined) return;
  sent.add(answer);
  const forget = () => sent.delete(answer);
  answer.then(forget, forget);
};

/** Otherwise a statement that the work did not await would be executed after the end of the transaction, and be kept. */
const untilAnswered = async ({ sent }: Transaction): Promise<void> => {
  while (sent.size > 0) await Promise.allSettled(sent);
};

/** Runs the work of a transaction. Rejects when one of its statements failed, even if the work caught the error. */
export const within = <Result>(transaction: Transaction, work: () => Promise<Result>): Promise<Result> =>
  transactions.run(transaction, async () => {
    try {
      const result = await work().finally(() => untilAnswered(transaction));
      if (transaction.failure !== undefined) throw transaction.failure;
      return result;
    } catch (error) {
      transaction.rejection = { error };
      throw error;
    }
  });

/**
 * The database outside of transactions. Refuses callers within one: they would wait for its end if the database has one connection, and
 * would not see its changes otherwise.
 */
export const outsideOfTransactions = (em: SqlEntityManager): DatabaseAccess => ({
  get em() {
    if (!inTransaction()) return em;
    throw new AppError('SYS_UNEXPECTED_ERROR', { reason: 'a unit of work uses a store that is not its own' });
  },
});

/** A field of any thrown value. */
export const field = (error: unknown, name: string): unknown =>
  typeof error === 'object' && error !== null ? Reflect.get(error, name) : undefined;

/** SQLSTATE of a driver's error (PostgreSQL manual, appendix A). */
const sqlState = (error: unknown): unknown => field(error, 'code');

/** serialization_failure and deadlock_detected: a concurrent transaction was in the way. */
const CONFLICTS: ReadonlySet<unknown> = new Set(['40001', '40P01']);
const QUERY_CANCELED = '57014';
const READ_ONLY_SQL_TRANSACTION = '25006';

/** Whether PostgreSQL rolled the statement back because of a concurrent one, so that it may be sent again. */
const isConflict = (error: unknown): boolean => CONFLICTS.has(sqlState(error));

/** A server that is read-only refuses a statement before it executes it. */
const NOT_DONE: ReadonlySet<unknown> = new Set([...CONFLICTS, QUERY_CANCELED, READ_ONLY_SQL_TRANSACTION]);

/**
 * Whether PostgreSQL certainly did nothing, or rolled the statement back: the server reported it. After a lost connection, the statement may have been
 * executed.
 */
const isRolledBack = (error: unknown): boolean => NOT_DONE.has(sqlState(error));

const UNIQUE_VIOLATION = '23505';

/** By the constraint of a unique violation. */
const UNIQUE_COLUMNS = new Map<unknown, 'username' | 'email'>([
  [USERNAME_KEY, 'username'],
  [EMAIL_KEY, 'email'],
]);

const failureOf = (error: unknown): AppError => {
  const reason = reasonOf(error);
  if (field(error, 'code') !== UNIQUE_VIOLATION) {
    publishDatabaseFailure(reason);
    return new AppError('DB_QUERY_FAILED', { reason });
  }
  const taken = UNIQUE_COLUMNS.get(field(error, 'constraint'));
  return taken === undefined ? new AppError('DB_UNIQUE_VIOLATION', { reason }) : duplicateUser(taken, reason);
};

/** The translated errors after which a transaction may be run again. */
const conflicts = new WeakSet<AppError>();

/** Whether a transaction was rolled back because of a concurrent one. @param error translated or not. */
export const isConflictOfTransactions = (error: unknown): boolean =>
  error instanceof AppError ? conflicts.has(error) : isConflict(error);

/** Maps a database error to an AppError without a `cause`, since driver errors contain emails and hashes. */
export const translateError = (error: unknown): AppError => {
  if (error instanceof AppError) return error;
  const translation = failureOf(error);
  if (isConflict(error)) conflicts.add(translation);
  return translation.status < 500 ? translation : withFramesOf(error, translation);
};

const noted = (failure: AppError): AppError => {
  noteFailure(failure);
  return failure;
};

/** Errors of the JavaScript engine. Drivers do not throw them synchronously, so they are bugs in the code that builds the query. */
const isBug = (error: unknown): error is Error =>
  error instanceof TypeError || error instanceof RangeError || error instanceof ReferenceError;

/** @throws AppError SYS_UNEXPECTED_ERROR */
const send = <Result>(query: () => Promise<Result>): Promise<Result> => {
  try {
    const answer = query();
    noteStatement(answer);
    return answer;
  } catch (error) {
    throw isBug(error) ? withFramesOf(error, new AppError('SYS_UNEXPECTED_ERROR', { reason: error.name })) : error;
  }
};

/** Milliseconds between a conflict and the second attempt. */
const LONGEST_PAUSE = 100;

/** Waits for a random time, so that the other transaction can get its locks first. */
export const afterConflict = (): Promise<void> => pause(LONGEST_PAUSE * (0.5 + Math.random() / 2));

/** Sends a query again, once, after a conflict. Not within a transaction, which was rolled back as a whole. */
const sendWithRetry = async <Result>(query: () => Promise<Result>): Promise<Result> => {
  try {
    return await send(query);
  } catch (error) {
    if (!isConflict(error) || inTransaction()) throw error;
    await afterConflict();
    return send(query);
  }
};

/**
 * Runs a query, a second time after a deadlock or a serialization failure, and translates its errors.
 * @param query builds and sends one statement or one transaction, and nothing else: process the result outside, so that a bug there
 *   is not reported as a database error.
 * @throws AppError AUTH_USER_DUPLICATE, DB_UNIQUE_VIOLATION, DB_QUERY_FAILED
 */
export const translated = async <Result>(query: () => Promise<Result>): Promise<Result> => {
  try {
    return await sendWithRetry(query);
  } catch (error) {
    throw noted(translateError(error));
  }
};

/**
 * Like `translated`, for a caller that has to know whether the query had an effect.
 * @returns `null` if the server certainly rolled the query back: it was cancelled, it conflicted twice, or the server is read-only.
 * @throws AppError as `translated`; the query may have been executed.
 */
export const unlessRolledBack = async <Result>(query: () => Promise<Result>): Promise<Result | null> => {
  try {
    return await sendWithRetry(query);
  } catch (error) {
    if (isRolledBack(error)) {
      publishDatabaseFailure(reasonOf(error));
      return null;
    }
    throw noted(translateError(error));
  }
};
