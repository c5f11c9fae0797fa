import type { Outbox } from '../../src/application/ports/outbox.ts';
import { describeOutbox } from '../contracts/outbox.contract.ts';
import { describeMutants, mutantsOf } from './harness/describe-mutants.ts';
import { memoryOutbox } from './memory/outbox.ts';
import { ADMITTING } from './outbox/faults/admitting.ts';
import { CLAIMING } from './outbox/faults/claiming.ts';
import { FAILING } from './outbox/faults/failing.ts';
import { REMOVING } from './outbox/faults/removing.ts';
import { REQUESTING } from './outbox/faults/requesting.ts';
import { recordsInMemory } from './records/in-memory.ts';

const inMemory = recordsInMemory<Outbox>((tables) => {
  const { removeOfUser: forget, ...outbox } = memoryOutbox(tables);
  return { ...outbox, forget };
});

describeOutbox('the correct outbox', inMemory());

describeMutants(
  (make: ReturnType<typeof inMemory>, suite) => describeOutbox('a mutant', make, suite),
  mutantsOf(inMemory, CLAIMING, REQUESTING, ADMITTING, REMOVING, FAILING),
);
