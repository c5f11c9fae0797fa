import type { Storage, Stores } from '../../../src/application/storage/records.ts';

/** Makes a copy of a storage with other stores, within transactions too. @param change replaces stores; it is called for each unit */
export const changedStorage = (
  { transactions, ...stores }: Storage,
  change: (stores: Stores) => Partial<Stores>,
): Storage => ({
  ...stores,
  ...change(stores),
  transactions: { run: (work) => transactions.run((inside) => work({ ...inside, ...change(inside) })) },
});
