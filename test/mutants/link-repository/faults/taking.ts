import type { LinkRepository } from '../../../../src/application/ports/link-repository.ts';
import { LINK_PURPOSES } from '../../../../src/domain/link.ts';
import { mutex } from '../../harness/mutex.ts';
import type { Faults } from './fault.ts';

const ONCE = 'takes a link once, also when many take it at the same time';
const INSTANCES = 'gives a link to one of two instances that take it';

/** Looks, and then removes what it has found. */
const takeInSteps =
  ({ find, removeOfUser }: LinkRepository): LinkRepository['take'] =>
  async (purpose, tokenHash, now) => {
    const link = await find(purpose, tokenHash, now);
    if (link !== null) await removeOfUser(link.userId, [purpose]);
    return link;
  };

export const TAKING: Faults = {
  'looks, and then takes': { wrong: (correct) => ({ take: takeInSteps(correct) }), caughtBy: ONCE },
  'leaves the link that is taken': { wrong: ({ find }) => ({ take: find }), caughtBy: ONCE },
  'refuses a link that was taken before, although it was put again': {
    wrong: ({ take }) => {
      const taken = new Set<string>();
      return {
        take: async (purpose, tokenHash, now) => {
          const link = taken.has(tokenHash) ? null : await take(purpose, tokenHash, now);
          if (link !== null) taken.add(tokenHash);
          return link;
        },
      };
    },
    caughtBy: ONCE,
  },
  'looks and takes under a lock of its own process': {
    wrong: (correct) => {
      const exclusively = mutex();
      return { take: (...given) => exclusively(() => takeInSteps(correct)(...given)) };
    },
    caughtBy: INSTANCES,
  },
  'takes all links of the user with one': {
    wrong: ({ take, removeOfUser }) => ({
      take: async (...given) => {
        const link = await take(...given);
        if (link !== null) await removeOfUser(link.userId, LINK_PURPOSES);
        return link;
      },
    }),
    caughtBy: ONCE,
  },
};
