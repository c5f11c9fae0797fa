import { AsyncLocalStorage } from 'node:async_hooks';
import type { SqlEntityManager } from '@mikro-orm/sql';
import { AppError } from '../../domain/errors/app-error.ts';

/** Where a repository sends its statements: the entity manager of the database, or of one transaction. */
export type DatabaseAccess = { readonly em: SqlEntityManager };

/** Runs work in one transaction, which is rolled back when the work rejects. */
export type Transact = <Result>(work: (transaction: DatabaseAccess) => Promise<Result>) => Promise<Result>;

/** The state of a transaction. */
export type Transaction = {
  /** The first failed statement. PostgreSQL then treats the commit as a rollback, without an error. */
  failure: AppError | undefined;
  /** The error of the work. */
  rejection: { readonly error: unknown } | undefined;
  /** The statements in progress. */
  readonly sent: Set<Promise<unknown>>;
};

const transactions = new AsyncLocalStorage<Transaction>();

/** Whether the caller runs within a transaction. */
export const inTransaction = (): boolean => transactions.getStore() !== undefined;

/** Remembers that a statement failed, if it belongs to a transaction. */
export const noteFailure = (failure: AppError): void => {
  const transaction = transactions.getStore();
  if (transaction !== undefined) transaction.failure ??= failure;
};

/** Remembers a statement until it ends, if it belongs to a transaction. */
export const noteStatement = (answer: Promise<unknown>): void => {
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
