import { setImmediate } from 'node:timers/promises';
import type { Tables } from '../../memory/tables.ts';
import { allIn, type Faults, rowsOf } from './fault.ts';

const PURGES = 'purges events from before a time, at most as many as it is asked to, the oldest first';

const remove = (tables: Tables, events: readonly { readonly id: string }[]): number => {
  for (const { id } of events) rowsOf(tables).delete(id);
  return events.length;
};

export const PURGING: Faults = {
  'purges more than the limit': {
    wrong: ({ purge }) => ({ purge: (before) => purge(before, Number.MAX_SAFE_INTEGER) }),
    caughtBy: PURGES,
  },
  'purges the events of the time itself': {
    wrong: ({ purge }) => ({ purge: (before, limit) => purge(before + 1, limit) }),
    caughtBy: PURGES,
  },
  'purges in the order of the ids': {
    wrong: (_correct, { tables }) => ({
      purge: async (before, limit) => {
        const old = allIn(tables).filter(({ at }) => at < before);
        return remove(tables, old.sort((a, b) => (a.id < b.id ? -1 : 1)).slice(0, limit));
      },
    }),
    caughtBy: PURGES,
  },
  'returns how many it was asked to purge': {
    wrong: ({ purge }) => ({
      purge: async (before, limit) => {
        await purge(before, limit);
        return limit;
      },
    }),
    caughtBy: PURGES,
  },
  'returns how many it meant to purge': {
    wrong: (_correct, { tables }) => ({
      purge: async (before, limit) => {
        const old = allIn(tables).filter(({ at }) => at < before);
        await setImmediate();
        return remove(tables, old.sort((a, b) => a.at - b.at).slice(0, limit));
      },
    }),
    caughtBy: 'purges each event once when two instances purge',
  },
};
