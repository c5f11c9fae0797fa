import type { LoginAttempts } from '../../../../src/application/ports/login-attempts.ts';
import { succeeded, withdrawn } from '../../../../src/domain/login-throttle.ts';
import { translating } from '../../harness/shared-rows.ts';
import type { Connection } from '../correct.ts';
import { type Faults, withNames } from './fault.ts';

const settledInTwoSteps =
  ({ access }: Connection, settled: typeof withdrawn): LoginAttempts['withdraw'] =>
  async ({ key, client }) => {
    const stored = await translating(access)((rows) => rows.get(key));
    if (stored !== undefined)
      await translating(access)((rows) => rows.set({ id: key, throttle: settled(stored.throttle, client) }));
  };

export const SETTLING: Faults = {
  'ignores a right password': {
    wrong: () => ({ succeed: async () => undefined }),
    caughtBy: 'forgets the failures of a client that succeeds',
  },
  'takes only one failure back after a right password': {
    wrong: (_connection, correct) => ({ succeed: correct.withdraw }),
    caughtBy: 'forgets the failures of a client that succeeds',
  },
  'forgets all failures after a right password': {
    wrong: ({ access }) => ({ succeed: ({ key }) => access((rows) => void rows.delete(key)) }),
    caughtBy: 'keeps the failures of other clients when one succeeds',
  },
  'ignores who attempts': {
    wrong: withNames((names) => names.map(() => 'anybody')),
    caughtBy: 'keeps the failures of other clients when one succeeds',
  },
  'counts an attempt that is withdrawn': {
    wrong: () => ({ withdraw: async () => undefined }),
    caughtBy: 'does not count an attempt that is withdrawn',
  },
  'reads the failures, and then writes them without one': {
    wrong: (connection) => ({ withdraw: settledInTwoSteps(connection, withdrawn) }),
    caughtBy: 'counts exactly while attempts begin, succeed and are withdrawn at the same time',
  },
  'reads the failures, and then writes them without those of a client': {
    wrong: (connection) => ({ succeed: settledInTwoSteps(connection, succeeded) }),
    caughtBy: 'counts exactly while attempts begin, succeed and are withdrawn at the same time',
  },
  'takes a withdrawal for a right password': {
    wrong: (_connection, correct) => ({ withdraw: correct.succeed }),
    caughtBy: 'does not count an attempt that is withdrawn',
  },
};
