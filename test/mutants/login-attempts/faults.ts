import type { Attempt, LoginAttempts } from '../../../src/application/ports/login-attempts.ts';
import { FIRST_WAIT, type LoginThrottle, succeeded, withdrawn } from '../../../src/domain/login-throttle.ts';
import { translating } from '../harness/shared-rows.ts';
import { type Connection, correctAttempts, countIn, waitIn } from './correct.ts';

type Wrong = (connection: Connection, correct: LoginAttempts) => Partial<LoginAttempts>;

/** The methods of an adapter that are wrong, and the title of the test that has to catch it. */
type Fault = { readonly wrong: Wrong; readonly caughtBy: string };

/** The correct adapter, except for this fault. */
export const withFault =
  ({ wrong }: Fault) =>
  (connection: Connection): LoginAttempts => {
    const correct = correctAttempts(connection);
    return { ...correct, ...wrong(connection, correct) };
  };

/** Counts other attempts than it is given. */
const asIf =
  (change: (attempt: Attempt) => Attempt): Wrong =>
  (_connection, correct) => ({
    begin: (attempt) => correct.begin(change(attempt)),
    succeed: (attempt) => correct.succeed(change(attempt)),
    withdraw: (attempt) => correct.withdraw(change(attempt)),
  });

const withKey = (change: (key: string) => string): Wrong => asIf(({ key, party }) => ({ key: change(key), party }));

const withNames = (change: (names: readonly string[]) => readonly string[]): Wrong =>
  asIf(({ key, party: { kind, names } }) => ({ key, party: { kind, names: change(names) } }));

const inTwoSteps =
  ({ access, now }: Connection): LoginAttempts['begin'] =>
  async (attempt) => {
    const wait = await translating(access)((rows) => waitIn(rows, attempt, now()));
    if (wait === 0) await translating(access)((rows) => countIn(rows, attempt, now()));
    return wait;
  };

const neverForgotten = (throttle: LoginThrottle, at: number): LoginThrottle => ({
  ...throttle,
  parties: new Map([...throttle.parties].map(([name, failures]) => [name, { ...failures, lastAt: at }])),
});

const settledInTwoSteps =
  ({ access }: Connection, settled: typeof withdrawn): LoginAttempts['withdraw'] =>
  async ({ key, party }) => {
    const stored = await translating(access)((rows) => rows.get(key));
    if (stored !== undefined)
      await translating(access)((rows) => rows.set({ id: key, throttle: settled(stored.throttle, party) }));
  };

/** By what is wrong. */
export const FAULTS: Readonly<Record<string, Fault>> = {
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
  'checks and counts under a lock of its own process': {
    wrong: (connection) => {
      let last: Promise<unknown> = Promise.resolve();
      return {
        begin: (attempt) => {
          const turn = last.then(() => inTwoSteps(connection)(attempt));
          last = turn;
          return turn;
        },
      };
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
  'ignores a right password': {
    wrong: () => ({ succeed: async () => undefined }),
    caughtBy: 'forgets the failures of a party that succeeds',
  },
  'takes only one failure back after a right password': {
    wrong: (_connection, correct) => ({ succeed: correct.withdraw }),
    caughtBy: 'forgets the failures of a party that succeeds',
  },
  'forgets all failures after a right password': {
    wrong: ({ access }) => ({ succeed: ({ key }) => access((rows) => void rows.delete(key)) }),
    caughtBy: 'keeps the failures of other parties when one succeeds',
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
  'ignores who attempts': {
    wrong: withNames((names) => names.map(() => 'anybody')),
    caughtBy: 'keeps the failures of other parties when one succeeds',
  },
  'counts each network separately': {
    wrong: asIf(({ key, party }) => ({ key: `${key} ${party.names.at(-1)}`, party })),
    caughtBy: 'makes networks without failures wait for each other',
  },
  'ignores groups of networks': {
    wrong: withNames((names) => names.slice(-1)),
    caughtBy: 'treats all networks of a group as one failing network when enough of them have failed',
  },
  'counts for the group of a network alone': {
    wrong: withNames((names) => [...names.slice(0, -1), `${names.at(-2)}/all`]),
    caughtBy: 'does not treat a network as failing because another one of its group is',
  },
  'treats a device as a network': {
    wrong: asIf(({ key, party: { names } }) => ({ key, party: { kind: 'network', names } })),
    caughtBy: 'admits three attempts of a device, however often the others fail',
  },
  'counts each device separately': {
    wrong: asIf(({ key, party }) =>
      party.kind === 'device' ? { key: `${key} ${party.names.at(-1)}`, party } : { key, party },
    ),
    caughtBy: 'limits the failures of any number of devices together',
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
    caughtBy: 'forgets the failures of a party an hour after its last attempt',
  },
  'counts an attempt that is withdrawn': {
    wrong: () => ({ withdraw: async () => undefined }),
    caughtBy: 'does not count an attempt that is withdrawn',
  },
  'reads the failures, and then writes them without one': {
    wrong: (connection) => ({ withdraw: settledInTwoSteps(connection, withdrawn) }),
    caughtBy: 'counts exactly while attempts begin, succeed and are withdrawn at the same time',
  },
  'reads the failures, and then writes them without those of a party': {
    wrong: (connection) => ({ succeed: settledInTwoSteps(connection, succeeded) }),
    caughtBy: 'counts exactly while attempts begin, succeed and are withdrawn at the same time',
  },
  'takes a withdrawal for a right password': {
    wrong: (_connection, correct) => ({ withdraw: correct.succeed }),
    caughtBy: 'does not count an attempt that is withdrawn',
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
