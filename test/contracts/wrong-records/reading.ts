import { setImmediate } from 'node:timers/promises';
import { keyOf, type Row } from '../../../src/adapters/records/memory-rows.ts';
import { violation } from '../../../src/adapters/records/records.ts';
import { AppError } from '../../../src/domain/errors/app-error.ts';
import { calling, type Faults, mutex, translating } from './database.ts';

const AS_INSERTED = 'lists a row as it was inserted, with every type of value';
const TEXTS = 'distinguishes texts by their letter case, by spaces at their ends, and by their last character';
const UNIQUE = 'rejects a second row with the same key, or the same values of a unique index, and names the index';
const UNSTORABLE = 'finds nothing by a text that cannot be stored, and rejects a row that has one';
const GIVEN = 'lists the rows with given values, and only those';
const RANGE = 'lists the rows in a range of a column, and none that has null there';
const ORDER = 'lists in the order of columns, either way, and orders texts by their bytes';
const PAGE = 'leaves out the first rows, and lists at most as many as it is asked to';
const SEARCHED = 'lists every row that contains a text where its table is searched, and may list others';
const OWN = 'is not affected by changes to a row that it was given or has returned';
const FAILS = 'rejects with DB_QUERY_FAILED alone when its store fails, and repeats nothing that is stored';

/** Stores rows with each value changed. */
const storing = (change: (value: unknown) => unknown): Faults[string]['wrong'] =>
  calling(({ insert }) => ({
    insert: (table, row) => {
      const changed = Object.entries(row).map(([column, value]) => [column, change(value)]);
      return insert(table, Object.fromEntries(changed));
    },
  }));
const storingTexts = (change: (text: string) => string) =>
  storing((value) => (typeof value === 'string' ? change(value) : value));

/** Looks for the key, and then inserts. */
const inSteps = calling((_calls, rows) => ({
  insert: async (table, row) => {
    const isTaken = rows.get(table, keyOf(table, row)) !== undefined;
    await setImmediate();
    if (isTaken) throw violation('used_values_pkey');
    rows.set(table, keyOf(table, row), { ...row, version: 1 } as unknown as Row);
  },
}));

export const READING: Faults = {
  'stores no numbers beyond 32 bits': {
    wrong: storing((value) => (typeof value === 'number' ? value | 0 : value)),
    caughtBy: AS_INSERTED,
  },
  'takes empty texts for null': { wrong: storing((value) => (value === '' ? null : value)), caughtBy: AS_INSERTED },
  'ignores spaces at the ends of texts': { wrong: storingTexts((text) => text.trim()), caughtBy: TEXTS },
  'names no index': {
    wrong: calling(({ insert }) => ({
      insert: (table, row) =>
        insert(table, row).catch((error: AppError) => {
          throw new AppError(error.code);
        }),
    })),
    caughtBy: UNIQUE,
  },
  'takes null for a value': {
    wrong: calling(({ insert }, rows) => ({
      insert: async (table, row) => {
        if (table === 'outbox' && rows.all('outbox').some(({ request }) => request === null))
          throw violation('outbox_request');
        await insert(table, row);
      },
    })),
    caughtBy: 'takes rows with null in a unique index for different',
  },
  'adds rows without their user': {
    wrong: calling(({ insert }, rows) => ({
      insert: async (table, row) => {
        if (table === 'users') await insert(table, row);
        else rows.set(table, keyOf(table, row), { ...row, version: 1 } as unknown as Row);
      },
    })),
    caughtBy: 'rejects a row whose user is not stored, and stores nothing of it',
  },
  'looks, and then inserts': {
    wrong: inSteps,
    caughtBy: 'accepts exactly one of many concurrent inserts with the same key',
  },
  'looks and inserts under a lock of its own process': {
    wrong: (correct) => {
      const exclusively = mutex();
      const callsOver = inSteps(correct).callsOver ?? correct.callsOver;
      return {
        callsOver: (rows) => {
          const calls = callsOver(rows);
          return { ...calls, insert: (...given) => exclusively(() => calls.insert(...given)) };
        },
      };
    },
    caughtBy: 'accepts exactly one of two inserts by two instances',
  },
  'fails for a text that cannot be stored': {
    wrong: calling(({ list }) => ({
      list: async (table, query) => {
        if (JSON.stringify(query).includes('\\u0000')) throw new AppError('DB_QUERY_FAILED');
        return list(table, query);
      },
    })),
    // The error is no assertion.
    caughtBy: UNSTORABLE,
  },
  'takes false for any value': {
    wrong: calling(({ list }) => ({
      list: async (table, query) => {
        if (Reflect.get(query.equal ?? {}, 'waitsForPoll') !== false) return list(table, query);
        return list(table, { order: ['id'] } as unknown as typeof query);
      },
    })),
    caughtBy: GIVEN,
  },
  'has the bound in every range': {
    wrong: calling(({ list }) => ({
      list: (table, { range, ...query }) => {
        if (range === undefined) return list(table, query);
        return list(table, { ...query, range: [range[0], range[1].startsWith('<') ? '<=' : '>=', range[2]] });
      },
    })),
    caughtBy: RANGE,
  },
  'orders texts as people do': {
    wrong: calling(({ list }) => ({
      list: async (table, query) => {
        const rows = await list(table, query);
        const text = (row: object) => String(Reflect.get(row, 'id'));
        return query.order?.[0] === 'id' ? rows.sort((a, b) => text(a).localeCompare(text(b))) : rows;
      },
    })),
    caughtBy: ORDER,
  },
  'lists all': {
    wrong: calling(({ list }) => ({ list: (table, { limit: _, ...query }) => list(table, query) })),
    caughtBy: PAGE,
  },
  'searches one column alone': {
    wrong: calling(({ list }) => ({
      list: async (table, { contains = '', ...query }) =>
        (await list(table, query)).filter(
          (row) => contains === '' || String(Reflect.get(row, 'email')).includes(contains),
        ),
    })),
    caughtBy: SEARCHED,
  },
  'keeps the objects that it is given': {
    wrong: calling((calls, rows) => ({
      insert: async (table, row) => {
        await calls.insert(table, row);
        const key = keyOf(table, row);
        rows.set(table, key, { ...row, version: rows.get(table, key)?.version } as unknown as Row);
      },
    })),
    caughtBy: OWN,
  },
  'keeps what it has read': {
    wrong: (correct) => {
      const known = new Map<string, unknown>();
      return {
        callsOver: (rows) => {
          const calls = correct.callsOver(rows);
          return {
            ...calls,
            list: async (table, query) => {
              const key = JSON.stringify([table, query]);
              if (table === 'sessions' && !known.has(key)) known.set(key, await calls.list(table, query));
              return (known.get(key) as never) ?? calls.list(table, query);
            },
          };
        },
      };
    },
    caughtBy: 'replaces a row that has not changed since it was read',
  },
  'has rows of its own': {
    wrong: (correct) => {
      const own = new Set<string>();
      return {
        callsOver: (rows) => {
          const calls = correct.callsOver(rows);
          return {
            ...calls,
            insert: (table, row) => {
              own.add(keyOf(table, row));
              return calls.insert(table, row);
            },
            list: async (table, query) => (await calls.list(table, query)).filter((row) => own.has(keyOf(table, row))),
          };
        },
      };
    },
    caughtBy: 'lists what another instance over the same store has written',
  },
  'quotes the driver in the error': {
    wrong: ({ stored }) => ({
      records: (records) => ({
        ...records,
        ...translating(
          {
            list: async (table, query) => {
              stored.all(table);
              return records.list(table, query);
            },
          } as Pick<typeof records, 'list'>,
          String,
        ),
      }),
    }),
    caughtBy: FAILS,
  },
};
