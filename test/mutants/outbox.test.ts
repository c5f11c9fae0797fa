import { memoryOutbox } from '../../src/adapters/outbox/memory.ts';
import type { Outbox } from '../../src/application/ports/outbox.ts';
import { absent } from '../contracts/hooks.ts';
import { describeOutbox, type OutboxStore } from '../contracts/outbox.contract.ts';
import { anId } from '../support/builders.ts';
import { describeMutants } from './harness/describe-mutants.ts';

type Wrong = (correct: Outbox) => Partial<Outbox>;

const withFault = (wrong: Wrong) => async (): Promise<OutboxStore> => {
  const correct = memoryOutbox();
  const repository = { ...correct, ...wrong(correct) };
  return {
    repository,
    owners: [anId(), anId()],
    another: async () => repository,
    failing: absent('memory does not fail'),
    deleteUser: async (id) => correct.removeOfUser(id),
  };
};

const mutant = (caughtBy: string, wrong: Wrong) => ({ make: withFault(wrong), caughtBy });

describeMutants((make: ReturnType<typeof withFault>, suite) => describeOutbox('a mutant', make, suite), {
  'gives a claimed message to others': mutant(
    'claims each message for one of several instances, until the lease ends',
    ({ claim }) => ({ claim: ({ now, limit }) => claim({ now, until: now, limit }) }),
  ),
  'claims more than the limit': mutant(
    'claims messages whose time has come, the oldest first, at most as many as it is asked to',
    ({ claim }) => ({ claim: (asked) => claim({ ...asked, limit: 1_000 }) }),
  ),
  'ignores a postponement': mutant('claims a message again at the time to which it was postponed', () => ({
    postpone: async () => undefined,
  })),
  'forgets to count an attempt': mutant('counts the attempts of a message', ({ claim }) => ({
    claim: async (asked) => (await claim(asked)).map((message) => ({ ...message, attempts: 1 })),
  })),
  'keeps messages that are to be removed': mutant('removes messages', () => ({ remove: async () => undefined })),
  'says that a message is named which is gone': mutant(
    'names the user of a message, once it is known',
    ({ identify }) => ({
      identify: async (id, identity) => {
        await identify(id, identity);
        return true;
      },
    }),
  ),
  'counts nothing that waits': mutant('says how many messages wait, and since when', () => ({
    waiting: async () => ({ count: 0, since: null }),
  })),
});
