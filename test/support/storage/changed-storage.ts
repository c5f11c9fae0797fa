import type { Storage, Stores } from '../../../src/application/ports/unit-of-work.ts';

/** The same storage, some of whose stores are replaced, within units of work too. @param change is called anew for each unit. */
export const changedStorage = (
  { users, sessions, events, links, outbox, unitOfWork }: Storage,
  change: (stores: Stores) => Partial<Stores>,
): Storage => {
  const stores = { users, sessions, events, links, outbox };
  return {
    ...stores,
    ...change(stores),
    unitOfWork: { run: (work) => unitOfWork.run((inside) => work({ ...inside, ...change(inside) })) },
  };
};
