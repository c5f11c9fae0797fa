import type { Stores, UnitOfWork } from '../../application/ports/unit-of-work.ts';
import {
  afterConflict,
  type DatabaseAccess,
  isConflictOfTransactions,
  type Transact,
  type Transaction,
  translateError,
  within,
} from '../mikro-orm/queries.ts';
import { outsideOfUnits } from './wrappers.ts';

/** The most runs of one unit, which runs again after a conflict. */
const MOST_RUNS = 3;

/** Runs each unit in one transaction. @param storesOver makes the stores of a transaction. */
export const mikroOrmUnitOfWork = (transact: Transact, storesOver: (db: DatabaseAccess) => Stores): UnitOfWork => {
  const run = async <Result>(work: (stores: Stores) => Promise<Result>, runsLeft: number): Promise<Result> => {
    const transaction: Transaction = { failure: undefined, rejection: undefined, sent: new Set() };
    try {
      return await transact((db) => within(transaction, () => work(storesOver(db))));
    } catch (error) {
      const { failure, rejection } = transaction;
      if (isConflictOfTransactions(failure ?? error) && runsLeft > 0) {
        await afterConflict();
        return run(work, runsLeft - 1);
      }
      // If the rollback fails as well, the driver reports that failure. The error of the work matters more.
      throw rejection === undefined ? translateError(error) : rejection.error;
    }
  };
  return { run: (work) => outsideOfUnits(() => run(work, MOST_RUNS - 1)) };
};
