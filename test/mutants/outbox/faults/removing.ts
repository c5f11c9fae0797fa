import { allIn, type Faults, toMessage } from './fault.ts';

const REMOVES = 'removes messages';
const LISTS = 'lists the messages about a user';
const WAITING = 'says how many messages wait, and since when';
const LOSES = 'loses the messages about a user who is deleted';

export const REMOVING: Faults = {
  'keeps messages that are to be removed': { wrong: () => ({ remove: async () => undefined }), caughtBy: REMOVES },
  'removes the first of them alone': {
    wrong: ({ remove }) => ({ remove: (ids) => remove(ids.slice(0, 1)) }),
    caughtBy: REMOVES,
  },
  'takes no id for all ids': {
    wrong: ({ remove }, { tables }) => ({
      remove: (ids) => remove(ids.length === 0 ? allIn(tables).map(({ id }) => id) : ids),
    }),
    caughtBy: REMOVES,
  },
  'lists the messages about everybody': {
    wrong: (_correct, { tables }) => ({ listByUser: async () => allIn(tables).map(toMessage) }),
    caughtBy: LISTS,
  },
  'lists messages that are about nobody, too': {
    wrong: (_correct, { tables }) => ({
      listByUser: async (userId) =>
        allIn(tables)
          .filter((row) => row.userId === null || row.userId === userId)
          .map(toMessage),
    }),
    caughtBy: LISTS,
  },
  'lists the first message alone': {
    wrong: ({ listByUser }) => ({ listByUser: async (userId) => (await listByUser(userId)).slice(0, 1) }),
    caughtBy: LISTS,
  },
  'counts nothing that waits': {
    wrong: () => ({ waiting: async () => ({ count: 0, since: null }) }),
    caughtBy: WAITING,
  },
  'does not count what is claimed': {
    wrong: ({ waiting }, { tables }) => ({
      waiting: async () => ({
        ...(await waiting()),
        count: allIn(tables).filter(({ attempts }) => attempts === 0).length,
      }),
    }),
    caughtBy: WAITING,
  },
  'says when the next attempt is, and not since when a message waits': {
    wrong: ({ waiting }, { tables }) => ({
      waiting: async () => {
        const { count } = await waiting();
        return { count, since: count === 0 ? null : Math.min(...allIn(tables).map((row) => row.nextAttemptAt)) };
      },
    }),
    caughtBy: WAITING,
  },
  'waits since 1970 when nothing waits': {
    wrong: ({ waiting }) => ({
      waiting: async () => {
        const { count, since } = await waiting();
        return { count, since: since ?? 0 };
      },
    }),
    caughtBy: WAITING,
  },
  'keeps the messages about a user who is deleted': { wrong: () => ({ forget: () => undefined }), caughtBy: LOSES },
  'loses the messages about nobody when a user is deleted': {
    wrong: ({ remove }, { tables }) => ({
      forget: (deleted) =>
        remove(
          allIn(tables)
            .filter(({ userId }) => userId === null || userId === deleted)
            .map(({ id }) => id),
        ),
    }),
    caughtBy: LOSES,
  },
};
