import { describe, expect, it } from 'vitest';
import { describeRecords } from '../records.contract.ts';
import { casesOf } from './cases.ts';
import { CHANGING } from './changing.ts';
import { databaseInMemory, type Faults } from './database.ts';
import { READING } from './reading.ts';
import { UNITING } from './uniting.ts';

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
