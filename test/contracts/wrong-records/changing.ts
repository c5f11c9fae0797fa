import { setImmediate } from 'node:timers/promises';
import { keyOf, type Row } from '../../../src/adapters/records/memory-rows.ts';
import { calling, type Faults, mutex } from './database.ts';

const CHANGED = 'replaces no row that has changed since it was read, or is gone';
const REMOVES = 'removes the rows that have not changed since they were read, and returns them';
const REMOVED_ONCE = 'says of each row once that it was removed, however many remove it at the same time';

/** Compares, and then writes. */
const inSteps = calling((calls, rows) => ({
  replace: async (table, before, after) => {
    const now = rows.get(table, keyOf(table, before));
    await setImmediate();
    if (now?.version !== before.version) return false;
    rows.set(table, keyOf(table, before), { ...after, version: before.version + 1 } as Row);
    return true;
  },
  list: calls.list,
}));

export const CHANGING: Faults = {
  'replaces a row that has changed': {
    wrong: calling(({ replace }, rows) => ({
      replace: (table, before, after) => {
        const version = rows.get(table, keyOf(table, before))?.version ?? before.version;
        return replace(table, { ...before, version }, after);
      },
    })),
    caughtBy: CHANGED,
  },
  'begins with the same version each time': {
    wrong: calling(({ insert }, rows) => ({
      insert: async (table, row) => {
        await insert(table, row);
        rows.set(table, keyOf(table, row), { ...row, version: 1 } as unknown as Row);
      },
    })),
    caughtBy: 'takes a row that was removed and inserted again for another',
  },
  'does not look for the same values when it replaces': {
    wrong: calling((_calls, rows) => ({
      replace: async (table, before, after) => {
        if (rows.get(table, keyOf(table, before))?.version !== before.version) return false;
        rows.set(table, keyOf(table, before), { ...after, version: before.version + 1 } as unknown as Row);
        return true;
      },
    })),
    caughtBy: 'rejects a replacement that violates a unique index, names it, and changes nothing',
  },
  'compares, and then replaces': { wrong: inSteps, caughtBy: 'accepts exactly one of many concurrent replacements' },
  'compares and replaces under a lock of its own process': {
    wrong: (correct) => {
      const exclusively = mutex();
      const callsOver = inSteps(correct).callsOver ?? correct.callsOver;
      return {
        callsOver: (rows) => {
          const calls = callsOver(rows);
          return { ...calls, replace: (...given) => exclusively(() => calls.replace(...given)) };
        },
      };
    },
    caughtBy: 'accepts exactly one of two replacements by two instances',
  },
  'removes rows that have changed': {
    wrong: calling(({ remove }, rows) => ({
      remove: (table, given) =>
        remove(
          table,
          given.map((row) => ({ ...row, version: rows.get(table, keyOf(table, row))?.version ?? row.version })),
        ),
    })),
    caughtBy: REMOVES,
  },
  'returns the rows that it was asked to remove': {
    wrong: calling(({ remove }) => ({ remove: (table, rows) => remove(table, rows).then(() => [...rows]) })),
    caughtBy: REMOVED_ONCE,
  },
  'leaves what a user had': {
    wrong: calling((_calls, rows) => ({
      remove: async (table, given) =>
        given.filter((row) => {
          const owned =
            table === 'users' ? rows.all('events').filter((event) => event.userId === Reflect.get(row, 'id')) : [];
          rows.set(table, keyOf(table, row), undefined);
          for (const event of owned) rows.set('events', keyOf('events', event), event);
          return true;
        }),
    })),
    caughtBy: 'removes what goes with its user',
  },
  'locks the first row': {
    wrong: calling(({ lock }, rows) => ({
      lock: (table, key) => lock(table, { ...key, id: rows.all(table)[0]?.id } as typeof key),
    })),
    caughtBy: 'returns the row that it locks, and null for none',
  },
};
