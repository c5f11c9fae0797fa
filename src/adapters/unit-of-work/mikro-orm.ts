import type { Stores, UnitOfWork } from '../../application/ports/unit-of-work.ts';
import { markTransaction, type Statements, statementsOf, type Transact } from '../mikro-orm/transaction.ts';
import { afterConflict, isConflictOfTransactions, translateError } from '../mikro-orm/translate-error.ts';

/** Each unit is one transaction. @param storesOver makes the stores that send their statements to it. */
export const mikroOrmUnitOfWork = (transact: Transact, storesOver: (statements: Statements) => Stores): UnitOfWork => {
  const runOnce = async <Result>(work: (stores: Stores) => Promise<Result>): Promise<Result> => {
    let failure: { readonly error: unknown } | undefined;
    const workOrNote = async (stores: Stores) => {
      try {
        return await work(stores);
      } catch (error) {
        failure = { error };
        throw error;
      }
    };
    try {
      return await transact((transaction) => markTransaction(() => workOrNote(storesOver(statementsOf(transaction)))));
    } catch (error) {
      throw failure === undefined ? translateError(error) : failure.error;
    }
  };
  return {
    async run(work) {
      try {
        return await runOnce(work);
      } catch (error) {
        if (!isConflictOfTransactions(error)) throw error;
        await afterConflict();
        return runOnce(work);
      }
    },
  };
};
