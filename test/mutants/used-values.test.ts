import type { UsedValues } from '../../src/application/ports/used-values.ts';
import { describeUsedValues } from '../contracts/used-values.contract.ts';
import { describeMutants, mutantsOf } from './harness/describe-mutants.ts';
import { mutex } from './harness/mutex.ts';
import { quoting } from './harness/translated.ts';
import type { Tables } from './memory/tables.ts';
import { memoryUsedValues } from './memory/used-values.ts';
import { type Faults, recordsInMemory } from './records/in-memory.ts';

const inMemory = recordsInMemory<UsedValues>((tables) => ({ ...memoryUsedValues(tables), forget: () => undefined }));

/** Looks whether the value was used, and then uses it. */
const useInSteps =
  ({ use }: UsedValues, tables: Tables): UsedValues['use'] =>
  async (id, expiresAt) => {
    const isUsed = tables.open('used values').has(id);
    await Promise.resolve();
    await use(id, expiresAt);
    return !isUsed;
  };

const FIRST = 'says of the first use of a value that it is the first, and of no other';
const PURGES = 'purges expired values, and only those';
const FAILS = 'rejects with DB_QUERY_FAILED alone when its store fails, and repeats nothing that is stored';

const FAULTS: Faults<UsedValues> = {
  'remembers nothing': { wrong: () => ({ use: async () => true }), caughtBy: FIRST },
  'ignores the case of values': {
    wrong: ({ use }) => ({ use: (id, expiresAt) => use(id.toLowerCase(), expiresAt) }),
    caughtBy: FIRST,
  },
  'ignores spaces around a value': {
    wrong: ({ use }) => ({ use: (id, expiresAt) => use(id.trim(), expiresAt) }),
    caughtBy: FIRST,
  },
  'compares the beginnings of values': {
    wrong: ({ use }) => ({ use: (id, expiresAt) => use(id.slice(0, 100), expiresAt) }),
    caughtBy: FIRST,
  },
  'looks, and then uses': {
    wrong: (correct, { tables }) => ({ use: useInSteps(correct, tables) }),
    caughtBy: 'says so to exactly one of many concurrent users of a value',
  },
  'looks and uses under a lock of its own process': {
    wrong: (correct, { tables }) => {
      const exclusively = mutex();
      return { use: (...given) => exclusively(() => useInSteps(correct, tables)(...given)) };
    },
    caughtBy: 'says so to exactly one of two instances that use a value',
  },
  'purges live values': {
    wrong: ({ purge }) => ({ purge: (_now, limit) => purge(Number.MAX_SAFE_INTEGER, limit) }),
    caughtBy: PURGES,
  },
  'purges more than the limit': {
    wrong: ({ purge }) => ({ purge: (now) => purge(now, Number.MAX_SAFE_INTEGER) }),
    caughtBy: PURGES,
  },
  'keeps a value in the millisecond of its expiry': {
    wrong: ({ purge }) => ({ purge: (now, limit) => purge(now - 1, limit) }),
    caughtBy: PURGES,
  },
  'lets errors of its driver through': {
    wrong: (_correct, { untranslated }) => ({ purge: untranslated.purge }),
    caughtBy: FAILS,
  },
  'quotes the driver in the error': {
    wrong: (_correct, { untranslated }) => ({ use: quoting(untranslated.use) }),
    caughtBy: FAILS,
  },
  'refuses a value while its store is unavailable, and says nothing': {
    wrong: ({ use }) => ({ use: (...given) => use(...given).catch(() => false) }),
    caughtBy: FAILS,
  },
};

describeUsedValues('the correct adapter', inMemory());

describeMutants(
  (make: ReturnType<typeof inMemory>, suite) => describeUsedValues('a mutant', make, suite),
  mutantsOf(inMemory, FAULTS),
);
