import type { LoginAttempts } from '../../../../src/application/ports/login-attempts.ts';
import { FIRST_WAIT, type LoginThrottle } from '../../../../src/domain/login-throttle.ts';
import { mutex } from '../../harness/mutex.ts';
import { translating } from '../../harness/shared-rows.ts';
import { type Connection, countIn, waitIn } from '../correct.ts';
import { asIf, type Faults, type Wrong } from './fault.ts';

const withKey = (change: (key: string) => string): Wrong => asIf(({ key, client }) => ({ key: change(key), client }));

const inTwoSteps =
  ({ access, now }: Connection): LoginAttempts['begin'] =>
  async (attempt) => {
    const wait = await translating(access)((rows) => waitIn(rows, attempt, now()));
    if (wait === 0) await translating(access)((rows) => countIn(rows, attempt, now()));
    return wait;
  };

const neverForgotten = (throttle: LoginThrottle, at: number): LoginThrottle => ({
  ...throttle,
  clients: new Map([...throttle.clients].map(([name, failures]) => [name, { ...failures, lastAt: at }])),
});

export const WAITING: Faults = {
  'admits every attempt': {
    wrong: () => ({ begin: async () => 0 }),
    caughtBy: 'admits 50 failures at once, and makes the next attempt wait',
  },
  'waits no longer after further failures': {
    wrong: (_connection, correct) => ({ begin: async (attempt) => Math.min(FIRST_WAIT, await correct.begin(attempt)) }),
    caughtBy: 'doubles the wait with each further failure, from a second up to a minute',
  },
  'counts attempts that have to wait': {
    wrong: ({ access, now }) => ({
      begin: (attempt) =>
        access((rows) => {
          const wait = waitIn(rows, attempt, now());
          countIn(rows, attempt, now());
          return wait;
        }),
    }),
    caughtBy: 'does not count attempts that have to wait',
  },
  'checks whether an attempt has to wait, and then counts it': {
    wrong: (connection) => ({ begin: inTwoSteps(connection) }),
    caughtBy: 'admits exactly 50 of many concurrent attempts',
  },
  'checks whether the wait is over, and then counts': {
    wrong: (connection) => ({ begin: inTwoSteps(connection) }),
    caughtBy: 'admits one of many concurrent attempts after the wait',
  },
  'checks and counts under a lock of its own process': {
    wrong: (connection) => {
      const exclusively = mutex();
      return { begin: (attempt) => exclusively(() => inTwoSteps(connection)(attempt)) };
    },
    caughtBy: 'admits exactly 50 of many concurrent attempts at two instances',
  },
  'counts when an attempt ends': {
    wrong: ({ access, now }) => {
      const admitted = new Set<string>();
      return {
        begin: async (attempt) => {
          const wait = await access((rows) => waitIn(rows, attempt, now()));
          admitted.add(attempt.key);
          return wait;
        },
        withdraw: (attempt) => access((rows) => countIn(rows, attempt, now())),
      };
    },
    caughtBy: 'admits 50 failures at once, and makes the next attempt wait',
  },
  'ignores the letter case of keys': {
    wrong: withKey((key) => key.toLowerCase()),
    caughtBy: 'counts each key separately',
  },
  'ignores spaces around keys': { wrong: withKey((key) => key.trim()), caughtBy: 'counts each key separately' },
  'ends a key at a NUL': {
    wrong: withKey((key) => (key.startsWith('a\0') ? 'account ada' : key)),
    caughtBy: 'counts each key separately',
  },
  'never forgets': {
    wrong: ({ access, now }, correct) => ({
      begin: async (attempt) => {
        await access((rows) => {
          const stored = rows.get(attempt.key);
          if (stored !== undefined) rows.set({ id: stored.id, throttle: neverForgotten(stored.throttle, now()) });
        });
        return correct.begin(attempt);
      },
    }),
    caughtBy: 'forgets the failures of a client an hour after its last attempt',
  },
  'lets errors of its driver through': {
    wrong: ({ access }, correct) => ({
      begin: async (attempt) => {
        await access(() => undefined);
        return correct.begin(attempt);
      },
    }),
    caughtBy: 'does not reject when its store fails, or with DB_QUERY_FAILED alone',
  },
};
