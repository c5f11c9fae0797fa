import type { UserRepository } from '../../src/application/ports/user-repository.ts';
import type { User } from '../../src/domain/user.ts';
import type { UserStore } from '../contracts/user-repository/store.ts';
import { describeUserRepository } from '../contracts/user-repository.contract.ts';
import { describeMutants, mutantsOf } from './harness/describe-mutants.ts';
import { type Access, sharedRows } from './harness/shared-rows.ts';
import { correctUsers } from './user-repository/correct.ts';
import { ADDING } from './user-repository/faults/adding.ts';
import { CHANGING } from './user-repository/faults/changing.ts';
import { withFault } from './user-repository/faults/fault.ts';
import { FINDING } from './user-repository/faults/finding.ts';
import { UPDATING } from './user-repository/faults/updating.ts';

const inMemory = (open: (access: Access<User>) => UserRepository) => async (): Promise<UserStore> => {
  const shared = sharedRows<User>();
  return {
    repository: open(shared.connect()),
    another: async () => open(shared.connect()),
    failing: async () => open(shared.connectFailing()),
  };
};

describeUserRepository('correctUsers', inMemory(correctUsers));

describeMutants(
  (make: ReturnType<typeof inMemory>, suite) => describeUserRepository('a mutant', make, suite),
  mutantsOf((fault) => inMemory(withFault(fault)), ADDING, FINDING, CHANGING, UPDATING),
);
