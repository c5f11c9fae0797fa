import { describe, expect, it } from 'vitest';
import { describeRecords } from '../records.contract.ts';
import type { Suite } from '../suite.ts';
import { CHANGING } from './changing.ts';
import { databaseInMemory, type Faults } from './database.ts';
import { READING } from './reading.ts';
import { UNITING } from './uniting.ts';

/** How a test of a contract ended. */
type Outcome = { readonly kind: 'passed' } | { readonly kind: 'failed' | 'skipped'; readonly reason: unknown };

class Skipped extends Error {}

const outcomeOf = async (test: Parameters<Suite['it']>[1]): Promise<Outcome> => {
  try {
    await test({
      skip: (reason) => {
        throw new Skipped(reason);
      },
    });
    return { kind: 'passed' };
  } catch (reason) {
    return { kind: reason instanceof Skipped ? 'skipped' : 'failed', reason };
  }
};

/** The tests of a contract by their titles, to be run here and not by vitest. */
const casesOf = (register: (suite: Suite) => void): ReadonlyMap<string, () => Promise<Outcome>> => {
  const cases = new Map<string, () => Promise<Outcome>>();
  register({
    describe: (_title, body) => body(),
    it: (title, test) => {
      cases.set(title, () => outcomeOf(test));
    },
  });
  return cases;
};

describeRecords('the correct records', databaseInMemory());

const WRONG: Faults = { ...READING, ...CHANGING, ...UNITING };
const casesFor = (fault?: Faults[string]) =>
  casesOf((suite) => describeRecords('wrong records', databaseInMemory(fault), suite));

describe('the contract of records', () => {
  it.each(Object.entries(WRONG))('catches a store that %s', async (_what, fault) => {
    const run = casesFor(fault).get(fault.caughtBy) ?? expect.unreachable(fault.caughtBy);
    // Not by an error of the wrong store's own code.
    expect(await run()).toMatchObject({ kind: 'failed', reason: { name: 'AssertionError' } });
  });

  it('has a wrong store for each of its tests', () => {
    const caughtBy = Object.values(WRONG).map((fault) => fault.caughtBy);
    expect([...casesFor().keys()].filter((title) => !caughtBy.includes(title))).toEqual([]);
  });
});
