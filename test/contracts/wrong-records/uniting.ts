import { callsOver } from '../../../src/adapters/records/memory.ts';
import { keyOf, type StoredRows } from '../../../src/adapters/records/memory-rows.ts';
import { firstVersion, type Records } from '../../../src/adapters/records/records.ts';
import type { Calls, Transact } from '../../../src/adapters/records/units.ts';
import { AppError } from '../../../src/domain/errors/app-error.ts';
import type { Faults } from './database.ts';

const KEEPS = 'keeps all changes of a unit when the work succeeds, and returns its result';
const UNDOES = 'keeps none when the work rejects, and rejects with the same error';
const HIDES = 'shows the changes of a unit to itself alone until it ends';
const GOES_ON = 'keeps all changes or rejects, when the work goes on after a violation';
const REPEATS = 'repeats a unit that goes on after a violation';
const NESTED =
  'rejects a unit within another, calls of a unit to the records outside of it, and calls to one that is over';
const WAITS = 'carries out what the work has not waited for before the unit ends';

type Unit = Records['unit'];
const uniting =
  (wrong: (unit: Unit, records: Records) => Unit): Faults[string]['wrong'] =>
  () => ({
    records: (records) => ({ ...records, unit: wrong(records.unit, records) }),
  });
/** Units that do not take turns, and whose rows are compared when they are inserted only. */
const overlapping =
  (stored: StoredRows): Transact =>
  async (work) => {
    const changes = stored.begin();
    const result = await work(callsOver(changes));
    changes.commit(() => false);
    return result;
  };
/** Runs the work with the calls of everybody, whose changes are kept. */
const together: Unit = async () => undefined as never;

export const UNITING: Faults = {
  'returns nothing': {
    wrong: uniting((unit) => async (work) => {
      await unit(work);
      return together(work);
    }),
    caughtBy: KEEPS,
  },
  'keeps the changes of work that rejects': {
    wrong: ({ stored }) => ({ transact: async (work) => work(callsOver(stored)) }),
    caughtBy: UNDOES,
  },
  'shows the changes at once': {
    wrong: ({ stored }) => ({
      transact: async (work) => {
        const changes = stored.begin();
        const calls = callsOver(changes);
        return work({
          ...calls,
          insert: async (table, row) => {
            await calls.insert(table, row);
            await callsOver(stored).insert(table, row);
          },
        }).finally(() => changes.commit(() => false));
      },
    }),
    caughtBy: HIDES,
  },
  'lets units overlap': {
    wrong: ({ stored }) => ({ transact: overlapping(stored) }),
    caughtBy: 'makes other units that lock the same row wait, and shows them its changes',
  },
  'keeps what comes before a violation': {
    wrong: ({ stored }) => ({
      records: (records) => ({
        ...records,
        unit: (work) => {
          const calls = callsOver(stored);
          let hasFailed = false;
          return work({
            ...records,
            insert: async (table, row) => {
              if (hasFailed) throw new AppError('DB_QUERY_FAILED');
              await calls.insert(table, row).catch((error) => {
                hasFailed = true;
                throw error;
              });
            },
          }).then((result) => {
            if (hasFailed) throw new AppError('DB_QUERY_FAILED');
            return result;
          });
        },
      }),
    }),
    caughtBy: GOES_ON,
  },
  'runs a work again that ends with a violation': {
    wrong: uniting((unit) => (work) => unit(work).catch(() => unit(work))),
    caughtBy: REPEATS,
  },
  'runs a unit within another': {
    wrong: () => ({
      records: (records) => ({
        ...records,
        unit: (work) => records.unit((inside) => work({ ...inside, unit: (nested) => nested(inside) })),
      }),
    }),
    caughtBy: NESTED,
  },
  'ends before what the work has not waited for': {
    wrong: ({ stored }) => ({
      records: (records) => ({
        ...records,
        unit: (work) =>
          records.unit((inside) => {
            const insert: Records['insert'] = async (table, row) => {
              await new Promise((resolve) => setImmediate(resolve));
              await callsOver(stored).insert(table, row);
            };
            return work({ ...inside, insert });
          }),
      }),
    }),
    caughtBy: WAITS,
  },
  'compares the rows of a unit with none that others insert meanwhile': {
    wrong: ({ stored }) => ({ transact: overlapping(stored) }),
    caughtBy: 'accepts one of two units that insert the same values of a unique index',
  },
  'compares the rows of a unit with those before it alone': {
    wrong: ({ stored }) => ({
      transact: async (work) => {
        const changes = stored.begin();
        const insert: Calls['insert'] = async (table, row) => {
          const version = firstVersion();
          changes.set(table, keyOf(table, { ...row }), { ...row, version });
        };
        const result = await work({ ...callsOver(changes), insert });
        changes.commit(() => false);
        return result;
      },
    }),
    caughtBy: 'rejects the second of two rows of a unit with the same values of a unique index',
  },
  'writes at the end of a unit over what others have written': {
    wrong: ({ stored }) => ({
      transact: async (work) => {
        const calls = callsOver(stored.begin());
        const writes: (() => void)[] = [];
        const replace: Calls['replace'] = (table, before, after) => {
          writes.push(() => stored.set(table, keyOf(table, { ...after }), { ...after, version: before.version + 1 }));
          return calls.replace(table, before, after);
        };
        const result = await work({ ...calls, replace });
        for (const write of writes) write();
        return result;
      },
    }),
    caughtBy: 'loses no change to a row that a unit and a call outside of it change',
  },
  'does not look for the user of a row again when a unit ends': {
    wrong: ({ stored }) => ({
      transact: async (work) => {
        const calls = callsOver(stored.begin());
        const writes: (() => void)[] = [];
        const insert: Calls['insert'] = async (table, row) => {
          writes.push(() => stored.set(table, keyOf(table, { ...row }), { ...row, version: firstVersion() }));
          await calls.insert(table, row);
        };
        const result = await work({ ...calls, insert });
        for (const write of writes) write();
        return result;
      },
    }),
    caughtBy: 'keeps no row of a unit whose user is removed meanwhile',
  },
};
