import { NO_ORIGIN } from '../../domain/event.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';
import { endSessionsOf } from '../steps/end-sessions.ts';
import type { RecordDeps } from '../steps/record.ts';

export type EndAllSessionsDeps = RecordDeps & { readonly unitOfWork: UnitOfWork };

/** Ends all sessions of a user. Access tokens that were issued stay valid until they expire. */
export const endAllSessions =
  (deps: EndAllSessionsDeps) =>
  async (userId: string, origin = NO_ORIGIN): Promise<void> => {
    await deps.unitOfWork.run((stores) =>
      endSessionsOf(deps, stores, { userId, exceptId: null }, { reason: 'all-ended', origin }),
    );
  };
