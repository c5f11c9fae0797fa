import type { UserRepository } from '../../src/application/ports/user-repository.ts';
import type { User } from '../../src/domain/user.ts';
import type { UserStore } from '../contracts/user-repository/store.ts';
import { describeUserRepository } from '../contracts/user-repository.contract.ts';
import { describeMutants } from './harness/describe-mutants.ts';
import { type Access, sharedRows } from './harness/shared-rows.ts';
import { correctUsers } from './user-repository/correct.ts';
import { FAULTS, withFault } from './user-repository/faults.ts';

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
  Object.fromEntries(
    Object.entries(FAULTS).map(([what, fault]) => [
      what,
      { make: inMemory(withFault(fault)), caughtBy: fault.caughtBy },
    ]),
  ),
);
