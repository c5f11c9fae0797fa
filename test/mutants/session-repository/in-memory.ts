import { setTimeout } from 'node:timers/promises';
import type { SessionRepository } from '../../../src/application/ports/session-repository.ts';
import type { Session } from '../../../src/domain/session.ts';
import type { SessionStore } from '../../contracts/session-repository/store.ts';
import { aUser } from '../../support/builders.ts';
import { sharedRows } from '../harness/shared-rows.ts';
import { type Connection, now } from './correct.ts';

const BUDGET = 60_000;
/** Milliseconds. */
const SHORT_BUDGET = 20;

/** A store in memory with all hooks, and an adapter over it. */
export const inMemory = (open: (connection: Connection) => SessionRepository) => async (): Promise<SessionStore> => {
  const shared = sharedRows<Session>();
  const users = [aUser(), aUser()] as const;
  return {
    repository: open({ access: shared.connect(), users, budget: BUDGET }),
    another: async () => open({ access: shared.connect(), users, budget: BUDGET }),
    failing: async () => open({ access: shared.connectFailing(), users, budget: BUDGET }),
    clock: async () => Math.floor(now()),
    delayed: async () => ({
      repository: open({ access: shared.connectDelayed(), users, budget: SHORT_BUDGET }),
      hold: async () => shared.hold(),
      release: async () => {
        await setTimeout(2 * SHORT_BUDGET);
        shared.release();
      },
    }),
    users,
    deleteUser: async (userId) => {
      for (const session of shared.stored.values()) if (session.userId === userId) shared.stored.delete(session.id);
    },
  };
};
