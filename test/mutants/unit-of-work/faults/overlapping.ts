import type { Stores } from '../../../../src/application/ports/unit-of-work.ts';
import { AppError } from '../../../../src/domain/errors/app-error.ts';
import type { User } from '../../../../src/domain/user.ts';
import { separately } from '../../../support/units.ts';
import { memoryStores } from '../../memory/stores.ts';
import type { Wrong } from '../in-memory.ts';
import { type Faults, giving } from './fault.ts';

const MEANWHILE = 'neither undoes nor delays for long what others change meanwhile';
const AGAIN = 'runs the work again when it conflicts with another';
const GOES_ON = 'keeps all changes or rejects, when the work goes on after a conflict';
const LOCKED = 'makes other writers of a user whom it has locked or changed wait, and shows them its changes';
const FIFTY = 'keeps exactly 50 sessions of a user who logs in many times at once';
const SHOWS = 'shows the changes to nobody before the work has ended';

/** A unit in which some calls wait for the end of the unit before, if that has locked or changed a user. */
const holdingBack =
  (waiting: (stores: Stores, held: Promise<unknown>) => Partial<Stores>): Wrong =>
  ({ stores }) => {
    let last: Promise<unknown> = Promise.resolve();
    return {
      unitOfWork: {
        async run(work) {
          const { promise, resolve } = Promise.withResolvers<void>();
          const held = last;
          const hold = () => {
            last = promise;
          };
          const users: Stores['users'] = {
            ...stores.users,
            lock: (id) => {
              hold();
              return stores.users.findById(id);
            },
            update: (...given) => {
              hold();
              return stores.users.update(...given);
            },
            setPasswordHash: (...given) => {
              hold();
              return stores.users.setPasswordHash(...given);
            },
          };
          const inside = { ...stores, users };
          return work({ ...inside, ...waiting(inside, held) }).finally(resolve);
        },
      },
    };
  };

export const OVERLAPPING: Faults = {
  'shows changes before they are kept': {
    wrong: ({ stores }) => ({ unitOfWork: separately(stores) }),
    caughtBy: SHOWS,
  },
  'puts all users back when the work fails': {
    wrong: ({ unitOfWork }, { tables }) => ({
      unitOfWork: {
        async run(work) {
          const users = tables.open<User>('users');
          const before = [...users.values()];
          return unitOfWork.run(work).catch((error: unknown) => {
            for (const user of before) users.set(user.id, user);
            throw error;
          });
        },
      },
    }),
    caughtBy: MEANWHILE,
  },
  'lets others change nothing meanwhile': {
    wrong: ({ unitOfWork, stores }) => {
      let isRunning = false;
      return {
        stores: {
          ...stores,
          users: {
            ...stores.users,
            update: async (...given) => (isRunning ? null : stores.users.update(...given)),
          },
        },
        unitOfWork: {
          run: (work) => {
            isRunning = true;
            return unitOfWork.run(work).finally(() => {
              isRunning = false;
            });
          },
        },
      };
    },
    caughtBy: MEANWHILE,
  },
  'never runs the work again': {
    wrong: ({ stores }) => ({ unitOfWork: separately(stores) }),
    caughtBy: AGAIN,
  },
  'rejects when it conflicts with another': {
    wrong: (_correct, { tables }) => {
      const begin: typeof tables.begin = () => {
        const changes = tables.begin();
        const commit = () => {
          if (changes.commit()) return true;
          throw new AppError('DB_QUERY_FAILED');
        };
        return { ...changes, commit };
      };
      return { unitOfWork: memoryStores({ ...tables, begin }).unitOfWork };
    },
    caughtBy: AGAIN,
  },
  'keeps what comes after a conflict, which has undone what came before': {
    wrong: ({ stores }, { tables }) => ({
      unitOfWork: {
        async run(work) {
          const changes = tables.begin();
          const inside = memoryStores({ ...tables, ...changes.tables });
          let isUndone = false;
          const users: Stores['users'] = {
            ...inside.users,
            update: async (...given) => {
              if (given[1].disabledAt === undefined) return inside.users.update(...given);
              isUndone = true;
              throw new AppError('DB_QUERY_FAILED');
            },
          };
          const events: Stores['events'] = {
            ...inside.events,
            add: (added) => (isUndone ? stores : inside).events.add(added),
          };
          const result = await work({ ...inside, users, events });
          if (!isUndone) changes.commit();
          return result;
        },
      },
    }),
    caughtBy: GOES_ON,
  },
  'keeps each change at once, and forgets the user who is locked': {
    wrong: ({ stores }) => ({ unitOfWork: separately(stores) }),
    caughtBy: LOCKED,
  },
  'has units of several instances overlap': {
    wrong: (_correct, { tables }) => ({
      unitOfWork: { run: (work) => memoryStores(tables).unitOfWork.run(work) },
    }),
    caughtBy: LOCKED,
  },
  'makes a unit that adds an event wait, but not another unit that locks the user': {
    wrong: holdingBack(({ events }, held) => ({
      events: { ...events, add: (added) => held.then(() => events.add(added)) },
    })),
    caughtBy: LOCKED,
  },
  'makes a unit wait that adds an event or locks the user, but not a log-in that adds a session': {
    wrong: holdingBack(({ users, events }, held) => ({
      users: {
        ...users,
        lock: (id) => held.then(() => users.lock(id)),
        update: (...given) => held.then(() => users.update(...given)),
      },
      events: { ...events, add: (added) => held.then(() => events.add(added)) },
    })),
    caughtBy: LOCKED,
  },
  'counts the sessions of a user, and then adds one': {
    wrong: (_correct, { tables }) => ({
      unitOfWork: { run: (work) => memoryStores(tables).unitOfWork.run(work) },
    }),
    caughtBy: FIFTY,
  },
  'does not say which sessions gave way': {
    wrong: ({ unitOfWork }) => ({
      unitOfWork: giving(unitOfWork, ({ sessions }) => ({
        sessions: {
          ...sessions,
          add: async (session) => {
            await sessions.add(session);
            return [];
          },
        },
      })),
    }),
    caughtBy: FIFTY,
  },
};
