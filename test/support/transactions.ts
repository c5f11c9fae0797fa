import type { Stores, Transactions } from '../../src/application/storage/records.ts';
import { AppError } from '../../src/domain/errors/app-error.ts';

/** Changes that are kept one by one, also when the work fails later. */
export const separately = (stores: Stores): Transactions => ({ run: (work) => work(stores) });

type WithTransactions = { readonly transactions: Transactions };

/** What others do just before the next transaction begins. */
export const beforeNextTransaction = ({ transactions }: WithTransactions, act: () => Promise<unknown>): void => {
  const { run } = transactions;
  transactions.run = async (work) => {
    transactions.run = run;
    await act();
    return run(work);
  };
};

/** The next transaction is answered by a failure, whether or not it is kept, and so many after it fail. */
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
