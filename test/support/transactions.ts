import type { Stores, Transactions } from '../../src/application/storage/records.ts';
import { AppError } from '../../src/domain/errors/app-error.ts';

/** Transactions that keep each change at once, even if the work fails later. */
export const separateTransactions = (stores: Stores): Transactions => ({ run: (work) => work(stores) });

type WithTransactions = { readonly transactions: Transactions };

/** Runs `act` just before the next transaction begins. */
export const beforeNextTransaction = ({ transactions }: WithTransactions, act: () => Promise<unknown>): void => {
  const { run } = transactions;
  transactions.run = async (work) => {
    transactions.run = run;
    await act();
    return run(work);
  };
};

/** Makes the next transaction report a failure, though it is kept if `isKept`. The next `failing` transactions fail too. */
export const loseNextAnswer = (
  { transactions }: WithTransactions,
  { isKept, failing = 0 }: { readonly isKept: boolean; readonly failing?: number },
): void => {
  const { run } = transactions;
  const lost = () => new AppError('DB_QUERY_FAILED');
  let failures = 0;
  const fail = (): Promise<never> => {
    failures += 1;
    if (failures >= failing) transactions.run = run;
    return Promise.reject(lost());
  };
  transactions.run = (work) => {
    transactions.run = failing > 0 ? fail : run;
    if (isKept) return run(work).then(() => Promise.reject(lost()));
    return run((stores) => work(stores).then(() => Promise.reject(lost())));
  };
};
