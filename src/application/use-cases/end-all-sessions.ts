import { NO_ORIGIN } from '../../domain/event.ts';
import { endSessionsOf } from '../steps/end-sessions.ts';
import { type Caller, lockedLiveUser } from '../steps/live-user.ts';
import type { ChangeDeps } from '../steps/record.ts';

/**
 * Ends all sessions of a user.
 * @throws AppError AUTH_TOKEN_INVALID, DB_RECORD_NOT_FOUND
 */
export const endAllSessions =
  (deps: ChangeDeps) =>
  async (caller: Caller, origin = NO_ORIGIN): Promise<void> => {
    await deps.unitOfWork.run(async (stores) => {
      const { id: userId } = await lockedLiveUser(deps, stores, caller);
      await endSessionsOf(deps, stores, { userId, exceptId: null }, { reason: 'all-ended', origin });
    });
  };
