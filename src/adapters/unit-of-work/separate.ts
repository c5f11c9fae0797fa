import type { SessionRepository } from '../../application/ports/session-repository.ts';
import type { Stores, UnitOfWork } from '../../application/ports/unit-of-work.ts';

/** Stores that cannot be changed together: each change is kept at once, also when the work fails later. */
export const separateStores = (stores: Stores): UnitOfWork => ({ run: (work) => work(stores) });

/**
 * Sessions in a store of their own, beside stores that are changed together. The endings are repeated after the others are kept: a
 * session that was opened in between, for instance with the password that was being replaced, ends as well.
 */
export const withSessionsElsewhere = (unitOfWork: UnitOfWork, sessions: SessionRepository): UnitOfWork => ({
  async run(work) {
    const endings = new Map<string, () => Promise<unknown>>();
    const remembering: SessionRepository = {
      ...sessions,
      endByUser(userId, exceptId) {
        endings.set(userId, () => sessions.endByUser(userId, exceptId));
        return sessions.endByUser(userId, exceptId);
      },
    };
    const result = await unitOfWork.run((stores) => work({ ...stores, sessions: remembering }));
    await Promise.all([...endings.values()].map((end) => end()));
    return result;
  },
});
