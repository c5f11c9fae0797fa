import type { LinkRepository } from '../../src/application/ports/link-repository.ts';
import { describeLinkRepository } from '../contracts/link-repository.contract.ts';
import { describeMutants, mutantsOf } from './harness/describe-mutants.ts';
import { FINDING } from './link-repository/faults/finding.ts';
import { REMOVING } from './link-repository/faults/removing.ts';
import { TAKING } from './link-repository/faults/taking.ts';
import { memoryLinkRepository } from './memory/link-repository.ts';
import { recordsInMemory } from './records/in-memory.ts';

const inMemory = recordsInMemory<LinkRepository>((tables) => {
  const { removeAllOfUser: forget, ...links } = memoryLinkRepository(tables);
  return { ...links, forget };
});

describeLinkRepository('the correct repository', inMemory());

describeMutants(
  (make: ReturnType<typeof inMemory>, suite) => describeLinkRepository('a mutant', make, suite),
  mutantsOf(inMemory, FINDING, TAKING, REMOVING),
);
