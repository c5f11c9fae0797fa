import type { Storage, Stores } from '../../../src/application/storage/stores.ts';

/** The same storage, some of whose stores are replaced, within transactions too. @param change is called anew for each unit. */
export const changedStorage = (
  { transactions, ...stores }: Storage,
  change: (stores: Stores) => Partial<Stores>,
): Storage => ({
  ...stores,
  ...change(stores),
  transactions: { run: (work) => transactions.run((inside) => work({ ...inside, ...change(inside) })) },
});

/** The same stores, each replaced by what `change` makes of it. */
export const eachStore = (stores: Stores, change: <Store extends object>(store: Store) => Store): Stores =>
  // The type of the entries does not say which store has which name.
  Object.fromEntries(Object.entries(stores).map(([name, store]) => [name, change(store)])) as Stores;
