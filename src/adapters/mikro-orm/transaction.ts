import { AsyncLocalStorage } from 'node:async_hooks';
import type { SqlEntityManager } from '@mikro-orm/sql';
import type { Kysely } from 'kysely';
import type { Tables } from './rows.ts';

/** Where a repository sends its statements: to the database, or to one transaction. */
export type Statements = Pick<SqlEntityManager, 'getKysely'>;

export const statementsOf = (transaction: Kysely<Tables>): Statements =>
  // The repositories ask for these tables alone.
  ({ getKysely: () => transaction }) as unknown as Statements;

/** Runs work in one transaction, which is rolled back when the work rejects. */
export type Transact = <Result>(work: (transaction: Kysely<Tables>) => Promise<Result>) => Promise<Result>;

const transactions = new AsyncLocalStorage<true>();

/** Whether the caller runs within a transaction. */
export const inTransaction = (): boolean => transactions.getStore() === true;

export const markTransaction = <Result>(work: () => Promise<Result>): Promise<Result> => transactions.run(true, work);
