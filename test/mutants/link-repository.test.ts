import { memoryLinkRepository } from '../../src/adapters/link-repository/memory.ts';
import type { LinkRepository } from '../../src/application/ports/link-repository.ts';
import { LINK_PURPOSES } from '../../src/domain/link.ts';
import { absent } from '../contracts/hooks.ts';
import { describeLinkRepository, type LinkStore } from '../contracts/link-repository.contract.ts';
import { anId } from '../support/builders.ts';
import { describeMutants } from './harness/describe-mutants.ts';

type Wrong = (correct: LinkRepository) => Partial<LinkRepository>;

const withFault = (wrong: Wrong) => async (): Promise<LinkStore> => {
  const correct = memoryLinkRepository();
  const repository = { ...correct, ...wrong(correct) };
  return {
    repository,
    owners: [anId(), anId()],
    another: async () => repository,
    failing: absent('memory does not fail'),
    deleteUser: async (id) => correct.removeAllOfUser(id),
  };
};

const mutant = (caughtBy: string, wrong: Wrong) => ({ make: withFault(wrong), caughtBy });

describeMutants((make: ReturnType<typeof withFault>, suite) => describeLinkRepository('a mutant', make, suite), {
  'looks, and then takes': mutant('takes a link once, also when many take it at the same time', (correct) => ({
    async take(purpose, tokenHash, now) {
      const link = await correct.find(purpose, tokenHash, now);
      await correct.take(purpose, tokenHash, now);
      return link;
    },
  })),
  'consumes a link when it is found': mutant('finds a link by its purpose and its token', ({ take }) => ({
    find: take,
  })),
  'takes an expired link': mutant('neither finds nor takes a link that has expired', ({ take }) => ({
    take: (purpose, tokenHash) => take(purpose, tokenHash, 0),
  })),
  'finds a link by the token alone': mutant('does not find one by the token of another purpose', ({ find }) => ({
    find: async (_purpose, tokenHash, now) => {
      const found = await Promise.all(LINK_PURPOSES.map((purpose) => find(purpose, tokenHash, now)));
      return found.find((link) => link !== null) ?? null;
    },
  })),
  'lists links about an address that have expired': mutant(
    'finds the live links of a purpose that are about an address',
    ({ listByEmail }) => ({ listByEmail: (purpose, email) => listByEmail(purpose, email, 0) }),
  ),
  'removes the links of all purposes': mutant(
    'removes the links of a user, or those of some purposes',
    ({ removeOfUser }) => ({ removeOfUser: (userId) => removeOfUser(userId, LINK_PURPOSES) }),
  ),
  'purges live links': mutant('purges expired links, and only those', ({ purge }) => ({
    purge: (_now, limit) => purge(Number.MAX_SAFE_INTEGER, limit),
  })),
});
