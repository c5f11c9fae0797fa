import type { LoginAttempts } from '../../src/application/ports/login-attempts.ts';
import type { AttemptsStore } from '../contracts/login-attempts/store.ts';
import { describeLoginAttempts } from '../contracts/login-attempts.contract.ts';
import { fixedClock } from '../support/fixed-clock.ts';
import { describeMutants, mutantsOf } from './harness/describe-mutants.ts';
import { sharedRows } from './harness/shared-rows.ts';
import { type Connection, correctAttempts, type Throttle } from './login-attempts/correct.ts';
import { PARTIES } from './login-attempts/faults/clients.ts';
import { withFault } from './login-attempts/faults/fault.ts';
import { SETTLING } from './login-attempts/faults/settling.ts';
import { WAITING } from './login-attempts/faults/waiting.ts';

const inMemory = (open: (connection: Connection) => LoginAttempts) => async (): Promise<AttemptsStore> => {
  const shared = sharedRows<Throttle>();
  const { now, advance } = fixedClock(Date.UTC(2026, 0, 1));
  return {
    attempts: open({ access: shared.connect(), now }),
    another: async () => open({ access: shared.connect(), now }),
    failing: async () => open({ access: shared.connectFailing(), now }),
    pass: async (milliseconds) => advance(milliseconds),
  };
};

describeLoginAttempts('correctAttempts', inMemory(correctAttempts));

describeMutants(
  (make: ReturnType<typeof inMemory>, suite) => describeLoginAttempts('a mutant', make, suite),
  mutantsOf((fault) => inMemory(withFault(fault)), WAITING, PARTIES, SETTLING),
);
