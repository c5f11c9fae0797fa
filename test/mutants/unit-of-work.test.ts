import { expect, it } from 'vitest';
import { describeUnitOfWork } from '../contracts/unit-of-work.contract.ts';
import { casesOf } from './harness/cases.ts';
import { describeMutants, mutantsOf } from './harness/describe-mutants.ts';
import { KEEPING } from './unit-of-work/faults/keeping.ts';
import { OVERLAPPING } from './unit-of-work/faults/overlapping.ts';
import { REFUSING } from './unit-of-work/faults/refusing.ts';
import { inMemory } from './unit-of-work/in-memory.ts';

describeUnitOfWork('the correct unit of work', inMemory());

describeMutants(
  (make: ReturnType<typeof inMemory>, suite) => describeUnitOfWork('a mutant', make, suite),
  mutantsOf(({ wrong }) => inMemory(wrong), KEEPING, OVERLAPPING, REFUSING),
);

it('a test of the contract that fails leaves no unit open, for which later tests would wait', async () => {
  let open = 0;
  const left: number[] = [];
  const failing = () => Promise.reject(new Error('the hook failed'));
  const make = async () => {
    const store = await inMemory()();
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
  expect(outcomes.filter((kind) => kind === 'failed')).toHaveLength(3);
  expect(left).toEqual(outcomes.map(() => 0));
});
