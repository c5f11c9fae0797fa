import type { EventRepository } from '../../src/application/ports/event-repository.ts';
import { describeEventRepository } from '../contracts/event-repository.contract.ts';
import { BOUNDING } from './event-repository/faults/bounding.ts';
import { COUNTING } from './event-repository/faults/counting.ts';
import { FAILING } from './event-repository/faults/failing.ts';
import { LISTING } from './event-repository/faults/listing.ts';
import { OPERATING } from './event-repository/faults/operating.ts';
import { PURGING } from './event-repository/faults/purging.ts';
import { describeMutants, mutantsOf } from './harness/describe-mutants.ts';
import { memoryEventRepository } from './memory/event-repository.ts';
import { recordsInMemory } from './records/in-memory.ts';

const inMemory = recordsInMemory<EventRepository>((tables, hasUser) => {
  const { removeOfUser: forget, ...events } = memoryEventRepository(hasUser, tables);
  return { ...events, forget };
});

describeEventRepository('the correct repository', inMemory());

describeMutants(
  (make: ReturnType<typeof inMemory>, suite) => describeEventRepository('a mutant', make, suite),
  mutantsOf(inMemory, LISTING, COUNTING, BOUNDING, PURGING, OPERATING, FAILING),
);
