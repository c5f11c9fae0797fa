import { expect } from 'vitest';
import type { Stores, Transactions } from '../../src/application/ports/transactions.ts';
import { AppError } from '../../src/domain/errors/app-error.ts';
import { eachStore } from './storage/changed-storage.ts';

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

/**
 * Makes each call of a store within the transaction of `act` fail in turn, after the store has done it, and compares what `look` sees
 * with what it saw before. In the end nothing fails, and there is a change.
 */
export const expectAllOrNothing = async (
  { transactions }: WithTransactions,
  look: () => Promise<unknown>,
  act: () => Promise<unknown>,
): Promise<void> => {
  const { run } = transactions;
  const before = await look();
  let calls = 0;
  let failing = 0;
  const failInTurn = () => {
    calls += 1;
    if (calls === failing) throw new Error('down');
  };
  transactions.run = (work) => run((stores) => work(failingStores(stores, failInTurn)));
  do {
    calls = 0;
    failing += 1;
    const failure = await act().then(
      () => null,
      (error: unknown) => error,
    );
    if (calls < failing) expect(failure).toBeNull();
    else {
      expect(failure).toMatchObject({ message: 'down' });
      expect(await look(), `after a failure of call ${failing}`).toStrictEqual(before);
    }
  } while (calls >= failing);
  transactions.run = run;
  expect(await look()).not.toStrictEqual(before);
};

const failingStores = (stores: Stores, afterCall: () => void): Stores =>
  eachStore(stores, (store) => watched(store, afterCall));

const watched = <Store extends object>(store: Store, afterCall: () => void): Store =>
  new Proxy(store, {
    get(target, name) {
      const method: unknown = Reflect.get(target, name);
      if (typeof method !== 'function') return method;
      return async (...given: unknown[]) => {
        const result: unknown = await Reflect.apply(method, target, given);
        afterCall();
        return result;
      };
    },
  });
