import type { AccountEvent } from '../../../../src/domain/event.ts';
import { allIn, type Faults } from './fault.ts';

const HANDS_OUT =
  'hands out each event of an operator once, the earliest first, also when two instances ask and the user is deleted';

export const OPERATING: Faults = {
  'hands out nothing of a user who is deleted': {
    wrong: ({ takeOperated }, { hasUser }) => ({
      takeOperated: async (limit) => (await takeOperated(limit)).filter(({ userId }) => hasUser(userId)),
    }),
    caughtBy: HANDS_OUT,
  },
  'hands out more than the limit': {
    wrong: ({ takeOperated }) => ({ takeOperated: () => takeOperated(Number.MAX_SAFE_INTEGER) }),
    caughtBy: HANDS_OUT,
  },
  'hands out the latest first': {
    wrong: ({ takeOperated }) => ({ takeOperated: async (limit) => (await takeOperated(limit)).reverse() }),
    caughtBy: HANDS_OUT,
  },
  'hands out what it has handed out already': {
    wrong: (_correct, { tables }) => ({
      takeOperated: async (limit) =>
        allIn(tables)
          .filter(({ actor }: AccountEvent) => actor !== null)
          .slice(0, limit),
    }),
    caughtBy: HANDS_OUT,
  },
  'forgets who it was': {
    wrong: ({ list }) => ({ list: async (query) => (await list(query)).map((event) => ({ ...event, actor: null })) }),
    caughtBy: 'lists the events of one user, the latest first',
  },
};
