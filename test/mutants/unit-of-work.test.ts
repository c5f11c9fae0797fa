import { describeUnitOfWork } from '../contracts/unit-of-work.contract.ts';
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
