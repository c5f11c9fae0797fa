import { NO_ORIGIN } from '../../domain/event.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';
import { endings, type RecordDeps, record } from '../steps/record.ts';

export type PurgeSessionsDeps = RecordDeps & { readonly unitOfWork: UnitOfWork };

/** Deletes expired sessions, at most `limit`. @returns how many. */
export const purgeSessions =
  (deps: PurgeSessionsDeps) =>
  (limit: number): Promise<number> =>
    deps.unitOfWork.run(async (stores) => {
      const purged = await stores.sessions.purge(deps.clock.now(), limit);
      const expired = purged.flatMap(({ id, userId }) => endings(userId, [id], 'expired'));
      await record(deps, stores, NO_ORIGIN, expired);
      return purged.length;
    });
