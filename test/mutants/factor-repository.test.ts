import type { FactorRepository } from '../../src/application/ports/factor-repository.ts';
import type { Factor } from '../../src/domain/factor.ts';
import { describeFactorRepository } from '../contracts/factor-repository.contract.ts';
import { describeMutants, mutantsOf } from './harness/describe-mutants.ts';
import { mutex } from './harness/mutex.ts';
import { quoting } from './harness/translated.ts';
import { memoryFactorRepository } from './memory/factor-repository.ts';
import type { Tables } from './memory/tables.ts';
import { type Faults, recordsInMemory } from './records/in-memory.ts';

const inMemory = recordsInMemory<FactorRepository>((tables) => {
  const { removeOfUser: forget, ...factors } = memoryFactorRepository(tables);
  return { ...factors, forget };
});

const stored = (tables: Tables, id: string): Factor | undefined => tables.open<Factor>('factors').get(id);
const write = (tables: Tables, factor: Factor): void => void tables.open('factors').set(factor.id, factor);

/** Reads the last step, and then writes. */
const stepInSteps =
  (tables: Tables): FactorRepository['useStep'] =>
  async ({ id, userId }, step, now) => {
    const factor = stored(tables, id);
    await Promise.resolve();
    if (factor === undefined || factor.userId !== userId || factor.lastStep >= step) return false;
    write(tables, { ...factor, lastStep: step, confirmedAt: factor.confirmedAt ?? now });
    return true;
  };

/** Looks whether there is such a code, and then removes it. */
const codeInSteps =
  ({ useCode }: FactorRepository, tables: Tables): FactorRepository['useCode'] =>
  async (userId, hash) => {
    const isThere = tables.open('recovery codes').has(`${userId} ${hash}`);
    await Promise.resolve();
    await useCode(userId, hash);
    return isThere;
  };

const LISTS = 'lists the factors of one user, the oldest first';
const STEP = 'uses a step of a factor of its user, unless it or a later one was used';
const CONFIRMS = 'confirms a factor with its first step, and remembers when';
const REMOVES = 'removes a factor of its user alone, and says so once';
const REPLACES = 'replaces the recovery codes of one user, and counts them';
const CODE = 'uses a recovery code of its user once';
const CHANGES = 'changes an encrypted secret only if the given one is still stored';
const PAGES = 'lists the factors of all users in pages';
const LOSES = 'loses the factors and the recovery codes of a user who is deleted';
const FAILS = 'rejects with DB_QUERY_FAILED alone when its store fails, and repeats nothing that is stored';

const FAULTS: Faults<FactorRepository> = {
  'lists the newest first': {
    wrong: ({ listByUser }) => ({ listByUser: async (userId) => (await listByUser(userId)).toReversed() }),
    caughtBy: LISTS,
  },
  'lists the factors of all users': {
    wrong: ({ listAll }) => ({ listByUser: () => listAll('', 100) }),
    caughtBy: LISTS,
  },
  'takes a step twice': {
    wrong: ({ useStep }) => ({ useStep: async (...given) => (await useStep(...given)) || given[1] === 7 }),
    caughtBy: STEP,
  },
  'takes a step that is earlier than the last one': {
    wrong: (_correct, { tables }) => ({
      useStep: async ({ id, userId }, step, now) => {
        const factor = stored(tables, id);
        if (factor === undefined || factor.userId !== userId || factor.lastStep === step) return false;
        write(tables, { ...factor, lastStep: step, confirmedAt: factor.confirmedAt ?? now });
        return true;
      },
    }),
    caughtBy: STEP,
  },
  'uses the factor of another user': {
    wrong: ({ useStep }, { tables }) => ({
      useStep: (key, ...given) => useStep(stored(tables, key.id) ?? key, ...given),
    }),
    caughtBy: STEP,
  },
  'uses a step of all factors of the user': {
    wrong: ({ useStep, listByUser }) => ({
      useStep: async (key, ...given) => {
        const isFirst = await useStep(key, ...given);
        for (const factor of await listByUser(key.userId)) await useStep(factor, ...given);
        return isFirst;
      },
    }),
    caughtBy: STEP,
  },
  'confirms nothing': {
    wrong: ({ useStep }, { tables }) => ({
      useStep: async (key, ...given) => {
        const isUsed = await useStep(key, ...given);
        const factor = stored(tables, key.id);
        if (factor !== undefined) write(tables, { ...factor, confirmedAt: null });
        return isUsed;
      },
    }),
    caughtBy: CONFIRMS,
  },
  'confirms a factor again with each step': {
    wrong: ({ useStep }, { tables }) => ({
      useStep: async (key, step, now) => {
        const isUsed = await useStep(key, step, now);
        const factor = stored(tables, key.id);
        if (factor !== undefined && isUsed) write(tables, { ...factor, confirmedAt: now });
        return isUsed;
      },
    }),
    caughtBy: CONFIRMS,
  },
  'reads the last step, and then writes': {
    wrong: (_correct, { tables }) => ({ useStep: stepInSteps(tables) }),
    caughtBy: 'accepts exactly one of many concurrent uses of a step',
  },
  'uses steps under a lock of its own process': {
    wrong: (_correct, { tables }) => {
      const exclusively = mutex();
      return { useStep: (...given) => exclusively(() => stepInSteps(tables)(...given)) };
    },
    caughtBy: 'accepts exactly one of two uses of a step by two instances',
  },
  'removes the factor of another user': {
    wrong: ({ remove }, { tables }) => ({ remove: (key) => remove(stored(tables, key.id) ?? key) }),
    caughtBy: REMOVES,
  },
  'says each time that it removed a factor': {
    wrong: ({ remove }) => ({ remove: async (key) => (await remove(key)) || true }),
    caughtBy: REMOVES,
  },
  'adds recovery codes to the former ones': {
    wrong: (_correct, { tables }) => ({
      replaceCodes: async (userId, hashes) => {
        for (const hash of hashes) tables.open('recovery codes').set(`${userId} ${hash}`, { userId, hash });
      },
    }),
    caughtBy: REPLACES,
  },
  'counts the recovery codes of all users': {
    wrong: (_correct, { tables }) => ({ countCodes: async () => tables.open('recovery codes').size }),
    caughtBy: REPLACES,
  },
  'does not use a recovery code up': {
    wrong: (_correct, { tables }) => ({
      useCode: async (userId, hash) => tables.open('recovery codes').has(`${userId} ${hash}`),
    }),
    caughtBy: CODE,
  },
  'ignores the case of a hash': {
    wrong: ({ useCode }) => ({ useCode: (userId, hash) => useCode(userId, hash.toLowerCase()) }),
    caughtBy: CODE,
  },
  'looks for a recovery code, and then removes it': {
    wrong: (correct, { tables }) => ({ useCode: codeInSteps(correct, tables) }),
    caughtBy: 'accepts exactly one of many concurrent uses of a recovery code',
  },
  'uses recovery codes under a lock of its own process': {
    wrong: (correct, { tables }) => {
      const exclusively = mutex();
      return { useCode: (...given) => exclusively(() => codeInSteps(correct, tables)(...given)) };
    },
    caughtBy: 'accepts exactly one of two uses of a recovery code by two instances',
  },
  'changes a secret that has changed since': {
    wrong: (_correct, { tables }) => ({
      changeSecret: async ({ id, userId }, { to }) => {
        const factor = stored(tables, id);
        if (factor?.userId !== userId) return false;
        write(tables, { ...factor, secret: to });
        return true;
      },
    }),
    caughtBy: CHANGES,
  },
  'lists the last factor of a page again': {
    wrong: (_correct, { tables }) => ({
      listAll: async (after, limit) =>
        [...tables.open<Factor>('factors').values()]
          .toSorted((a, b) => (a.id < b.id ? -1 : 1))
          .filter(({ id }) => id >= after)
          .slice(0, limit),
    }),
    caughtBy: PAGES,
  },
  'keeps the factors of a user who is deleted': { wrong: () => ({ forget: () => undefined }), caughtBy: LOSES },
  'keeps the recovery codes of a user who is deleted': {
    wrong: ({ listByUser, remove }) => ({
      forget: async (userId) => {
        for (const factor of await listByUser(userId)) await remove(factor);
      },
    }),
    caughtBy: LOSES,
  },
  'lets errors of its driver through': {
    wrong: (_correct, { untranslated }) => ({ listByUser: untranslated.listByUser }),
    caughtBy: FAILS,
  },
  'quotes the driver in the error': {
    wrong: (_correct, { untranslated }) => ({ useStep: quoting(untranslated.useStep) }),
    caughtBy: FAILS,
  },
  'refuses a recovery code while its store is unavailable, and says nothing': {
    wrong: ({ useCode }) => ({ useCode: (...given) => useCode(...given).catch(() => false) }),
    caughtBy: FAILS,
  },
};

describeFactorRepository('the correct repository', inMemory());

describeMutants(
  (make: ReturnType<typeof inMemory>, suite) => describeFactorRepository('a mutant', make, suite),
  mutantsOf(inMemory, FAULTS),
);
