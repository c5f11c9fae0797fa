import type { UserRepository } from '../../application/ports/user-repository.ts';
import type { Listeners, Records, Storage, Stores } from '../../application/storage/records.ts';
import { sessionRepositoryOver } from './sessions.ts';
import { userRepositoryOver } from './users.ts';

/** @param users those of the application, if it has a table of users of its own, which then also the sessions use. */
export const storesOver = (records: Records, users: UserRepository = userRepositoryOver(records)): Stores => ({
  users,
  sessions: sessionRepositoryOver(records, users),
  records,
  tell: () => undefined,
});

/**
 * The whole storage of the service over records.
 * @param open makes the stores over the records of a unit, or those outside of units.
 *
 * @example
 * const storage = storageOver(records, (inside) => storesOver(inside, usersOfTheShop()));
 */
export const storageOver = (records: Records, open: (records: Records) => Stores = storesOver): Storage => ({
  ...open(records),
  transactions: { run: (work) => records.unit((inside) => work(open(inside))) },
});

/** The same storage, which calls listeners when a unit is committed. */
export const tellingStorage = ({ transactions, ...stores }: Storage, listeners: Listeners): Storage => ({
  ...stores,
  tell: (listen) => listen(listeners),
  transactions: {
    async run(work) {
      let waiting: ((listeners: Listeners) => void)[] = [];
      const result = await transactions.run((inside) => {
        // The work may run several times. Only its last run is committed.
        waiting = [];
        return work({ ...inside, tell: (listen) => waiting.push(listen) });
      });
      for (const listen of waiting) listen(listeners);
      return result;
    },
  },
});
