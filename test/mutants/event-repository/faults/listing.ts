import { ALL, allIn, type Faults, rowsOf } from './fault.ts';

const LISTS = 'lists the events of one user, the latest first';
const CONTINUES = 'continues a list after the last event of the page before';
const OTHERS = 'lists nothing of another user';
const UNKNOWN = 'ignores an event of an unknown user, and adds those of others';
const LOSES = 'loses the events of a user who is deleted';

export const LISTING: Faults = {
  'lists the earliest first': {
    wrong: ({ list }) => ({ list: async (query) => (await list(query)).reverse() }),
    caughtBy: LISTS,
  },
  'forgets why a session ended': {
    wrong: ({ list }) => ({ list: async (query) => (await list(query)).map((event) => ({ ...event, reason: null })) }),
    caughtBy: LISTS,
  },
  'adds the first of many events alone': {
    wrong: ({ add }) => ({ add: (events) => add(events.slice(0, 1)) }),
    caughtBy: LISTS,
  },
  'returns the objects that it keeps': {
    wrong: ({ list }, { tables }) => ({
      list: async (query) => (await list(query)).flatMap(({ id }) => rowsOf(tables).get(id) ?? []),
    }),
    caughtBy: LISTS,
  },
  'begins each page anew': {
    wrong: ({ list }) => ({ list: (query) => list({ ...query, before: null }) }),
    caughtBy: CONTINUES,
  },
  'continues a list by the time alone': {
    wrong: ({ list }, { tables }) => ({
      list: async ({ userId, before, limit }) => {
        const last = before === null ? undefined : rowsOf(tables).get(before);
        const events = await list({ userId, before: null, limit: ALL });
        return events.filter(({ at }) => last === undefined || at < last.at).slice(0, limit);
      },
    }),
    caughtBy: CONTINUES,
  },
  'repeats the last event of a page': {
    wrong: ({ list }) => ({
      list: async ({ userId, before, limit }) =>
        (await list({ userId, before: null, limit: ALL }))
          .filter(({ id }) => before === null || id <= before)
          .slice(0, limit),
    }),
    caughtBy: CONTINUES,
  },
  'lists the events of everybody': {
    wrong: (_correct, { tables }) => ({
      list: async ({ before, limit }) =>
        allIn(tables)
          .filter(({ id }) => before === null || id < before)
          .sort((a, b) => (a.id < b.id ? 1 : -1))
          .slice(0, limit),
    }),
    caughtBy: OTHERS,
  },
  'lists nothing after an event of another user': {
    wrong: ({ list }) => ({
      list: async (query) => {
        const own = await list({ ...query, before: null, limit: ALL });
        return query.before === null || own.some(({ id }) => id === query.before) ? list(query) : [];
      },
    }),
    caughtBy: OTHERS,
  },
  'adds events of users who do not exist': {
    wrong: (_correct, { tables }) => ({
      add: async (events) => {
        for (const event of events) rowsOf(tables).set(event.id, { ...event });
      },
    }),
    caughtBy: UNKNOWN,
  },
  'adds none of the events when one of the users does not exist': {
    wrong: ({ add }, { hasUser }) => ({
      add: async (events) => {
        if (events.every(({ userId }) => hasUser(userId))) await add(events);
      },
    }),
    caughtBy: UNKNOWN,
  },
  'keeps the events of a user who is deleted': { wrong: () => ({ forget: () => undefined }), caughtBy: LOSES },
  'loses all events when a user is deleted': {
    wrong: ({ purge }) => ({ forget: () => purge(Number.MAX_SAFE_INTEGER, ALL) }),
    caughtBy: LOSES,
  },
};
