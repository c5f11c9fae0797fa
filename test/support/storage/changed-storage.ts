import type { Storage, Stores } from '../../../src/application/storage/records.ts';

/** The same storage, some of whose stores are replaced, within transactions too. @param change is called anew for each unit. */
export const changedStorage = (
  { transactions, ...stores }: Storage,
  change: (stores: Stores) => Partial<Stores>,
): Storage => ({
  ...stores,
  ...change(stores),
  transactions: { run: (work) => transactions.run((inside) => work({ ...inside, ...change(inside) })) },
});
