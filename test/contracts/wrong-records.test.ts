import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { memoryRecords } from '../../src/adapters/records/memory.ts';
import type { Records } from '../../src/application/storage/records.ts';
import { AppError } from '../../src/domain/errors/app-error.ts';
import { absent } from './hooks.ts';
import { describeRecords } from './records.contract.ts';
import type { Suite } from './suite.ts';

/** A store with one fault, by the title of the test that has to notice it. */
const WRONG: Readonly<Record<string, (correct: Records) => Partial<Records>>> = {
  'accepts exactly one of many concurrent replacements': ({ list, replace }) => ({
    async replace(table, before, after) {
      const now = async () => (await list('users', { equal: { id: `${Reflect.get(before, 'id')}` } }))[0];
      if ((await now())?.version !== before.version) return false;
      await setImmediate();
      return replace(table, { ...before, version: (await now())?.version ?? 0 }, after);
    },
  }),
  'keeps none when the work rejects, and rejects with the same error': (records) => ({
    unit: (work) => work(records),
  }),
  'rejects a second row with the same key, or the same values of a unique index, and names the index': ({
    insert,
  }) => ({
    insert: (table, row) => insert(table, row).catch((error: AppError) => Promise.reject(new AppError(error.code))),
  }),
  'lists in the order of columns, either way, and orders texts by their bytes': ({ list }) => ({
    list: async (table, query) => (await list(table, query)).toReversed(),
  }),
  'leaves out the first rows, and lists at most as many as it is asked to': ({ list }) => ({
    list: (table, { limit: _, ...query }) => list(table, query),
  }),
  'says of each row once that it was removed, however many remove it at the same time': ({ remove }) => ({
    remove: (table, rows) => remove(table, rows).then(() => [...rows]),
  }),
};

/** The tests of the contract by their titles, to be run here and not by vitest. */
const testsFor = (fault: (correct: Records) => Partial<Records>) => {
  const tests = new Map<string, Parameters<Suite['it']>[1]>();
  const suite: Suite = { describe: (_title, body) => body(), it: (title, test) => void tests.set(title, test) };
  const make = async () => {
    const correct = memoryRecords();
    const none = absent('one process has them to itself');
    return { records: { ...correct, ...fault(correct) }, another: none, failing: none, untilOneWaits: setImmediate };
  };
  describeRecords('wrong records', make, suite);
  return tests;
};

describe('the contract of records', () => {
  it.each(Object.entries(WRONG))('catches a store by: %s', async (title, fault) => {
    const test = testsFor(fault).get(title) ?? expect.unreachable(title);
    const skip = (reason: string) => expect.unreachable(reason);
    // Not by an error of the wrong store's own code.
    await expect((async () => test({ skip }))()).rejects.toMatchObject({ name: 'AssertionError' });
    await testsFor(() => ({})).get(title)?.({ skip });
  });
});
