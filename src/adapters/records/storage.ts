import type { UserRepository } from '../../application/ports/user-repository.ts';
import type { Listeners, Records, Storage, Stores } from '../../application/storage/records.ts';
import { sessionRepositoryOver } from './sessions.ts';
import { userRepositoryOver } from './users.ts';

/**
 * The stores over records, those of a unit or those outside.
 * @param users those of the application, if it has a table of users of its own; the sessions ask them, and not the table of `records`.
 */
export const storesOver = (records: Records, users: UserRepository = userRepositoryOver(records)): Stores => ({
  users,
  sessions: sessionRepositoryOver(records, users),
  records,
  tell: () => undefined,
});

/**
 * The whole storage of the service over records.
 * @param open makes the stores: with users of one's own, or with a method that is faster in one statement.
 *
 * @example
 * const storage = storageOver(records, (inside) => storesOver(inside, usersOfTheShop()));
 */
export const storageOver = (records: Records, open: (records: Records) => Stores = storesOver): Storage => ({
  ...open(records),
  transactions: { run: (work) => records.unit((inside) => work(open(inside))) },
});

/** The same storage, which tells what was added. */
export const tellingStorage = ({ transactions, ...stores }: Storage, listeners: Listeners): Storage => ({
  ...stores,
  tell: (listen) => listen(listeners),
  transactions: {
    async run(work) {
      let waiting: ((listeners: Listeners) => void)[] = [];
      const result = await transactions.run((inside) => {
        // The work may run several times; only the last run was committed.
        waiting = [];
        return work({ ...inside, tell: (listen) => waiting.push(listen) });
      });
      for (const listen of waiting) listen(listeners);
      return result;
    },
  },
});
