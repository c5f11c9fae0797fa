import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { memoryStorage } from '../../src/adapters/records/memory.ts';
import { auditedUnitOfWork, watchedUnitOfWork } from '../../src/adapters/records/wrappers.ts';
import type { UnitOfWork } from '../../src/application/ports/unit-of-work.ts';
import { absent } from '../contracts/hooks.ts';
import { describeUnitOfWork } from '../contracts/unit-of-work.contract.ts';
import { casesOf } from '../contracts/wrong-records/cases.ts';
import { interfereWith } from '../support/records/describe-storage.ts';

const inMemory = () => {
  const storage = memoryStorage();
  const { unitOfWork, ...stores } = storage;
  const failing = absent('memory does not fail');
  return { unitOfWork, stores, interfere: interfereWith(storage), untilOneWaits: () => setImmediate(), failing };
};

/** What the service puts around its unit of work. */
const WRAPPERS: Readonly<Record<string, (unitOfWork: UnitOfWork) => UnitOfWork>> = {
  auditedUnitOfWork: (unitOfWork) => auditedUnitOfWork(unitOfWork, () => undefined),
  watchedUnitOfWork: (unitOfWork) => watchedUnitOfWork(unitOfWork, () => undefined),
};
for (const [name, around] of Object.entries(WRAPPERS)) {
  describeUnitOfWork(name, async () => {
    const { unitOfWork, ...made } = inMemory();
    return { ...made, unitOfWork: around(unitOfWork) };
  });
}

it('a test of the contract that fails leaves no unit open, for which later tests would wait', async () => {
  let open = 0;
  const left: number[] = [];
  const failing = () => Promise.reject(new Error('the hook failed'));
  const make = async () => {
    const store = inMemory();
    const run: typeof store.unitOfWork.run = (work) => {
      open += 1;
      return store.unitOfWork.run(work).finally(() => {
        open -= 1;
      });
    };
    const close = async () => void left.push(open);
    return { ...store, unitOfWork: { run }, interfere: failing, untilOneWaits: failing, close };
  };
  const outcomes: string[] = [];
  for (const run of casesOf((suite) => describeUnitOfWork('a store', make, suite)).values())
    outcomes.push((await run()).kind);
  expect(outcomes).toContain('failed');
  expect(left).toEqual(outcomes.map(() => 0));
});
