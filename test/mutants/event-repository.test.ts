import { memoryEventRepository } from '../../src/adapters/event-repository/memory.ts';
import type { EventRepository } from '../../src/application/ports/event-repository.ts';
import { describeEventRepository, type EventStore } from '../contracts/event-repository.contract.ts';
import { absent } from '../contracts/hooks.ts';
import { anId } from '../support/builders.ts';
import { describeMutants } from './harness/describe-mutants.ts';

type Wrong = (correct: EventRepository) => Partial<EventRepository>;

const withFault = (wrong: Wrong) => async (): Promise<EventStore> => {
  const owners = [anId(), anId()] as const;
  const users = new Set<string>(owners);
  const correct = memoryEventRepository((id) => users.has(id));
  const repository = { ...correct, ...wrong(correct) };
  return {
    repository,
    owners,
    another: async () => repository,
    failing: absent('memory does not fail'),
    deleteUser: async (id) => correct.removeOfUser(id),
  };
};

const mutant = (caughtBy: string, wrong: Wrong) => ({ make: withFault(wrong), caughtBy });

describeMutants((make: ReturnType<typeof withFault>, suite) => describeEventRepository('a mutant', make, suite), {
  'lists the earliest first': mutant('lists the events of one user, the latest first', ({ list }) => ({
    list: async (query) => (await list(query)).reverse(),
  })),
  'begins each page anew': mutant('continues a list after the last event of the page before', ({ list }) => ({
    list: (query) => list({ ...query, before: null }),
  })),
  'knows every device of a user by its network': mutant(
    'knows whether a user has logged in on a device',
    (correct) => ({
      knowsDevice: async (userId, { address }) =>
        (await correct.list({ userId, before: null, limit: 1_000 })).some((event) => event.address === address),
    }),
  ),
  'purges more than the limit': mutant(
    'purges events from before a time, at most as many as it is asked to, the oldest first',
    ({ purge }) => ({ purge: (before) => purge(before, Number.MAX_SAFE_INTEGER) }),
  ),
  'counts the events of all times': mutant('counts the events of a kind since a time', ({ countSince }) => ({
    countSince: (userId, kind) => countSince(userId, kind, 0),
  })),
  'keeps the first refusals of an hour alone': mutant('adds refused log-ins of one hour to one event', (correct) => ({
    addRefusals: async (refusals) => {
      for (const refused of refusals) {
        const seen = await correct.list({ userId: refused.userId, before: null, limit: 1_000 });
        if (!seen.some(({ kind }) => kind === 'login-refused')) await correct.addRefusals([refused]);
      }
    },
  })),
});
