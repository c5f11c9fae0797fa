import { AppError } from '../../domain/errors/app-error.ts';
import { NO_ORIGIN } from '../../domain/event.ts';
import { endSession } from '../steps/end-sessions.ts';
import { type Caller, lockedLiveUser } from '../steps/live-user.ts';
import type { ChangeDeps } from '../steps/record.ts';

/**
 * Ends one session of a user.
 * @throws AppError AUTH_TOKEN_INVALID; DB_RECORD_NOT_FOUND when the user has no such session, even if another user has.
 */
export const endOwnSession =
  (deps: ChangeDeps) =>
  async (caller: Caller, id: string, origin = NO_ORIGIN): Promise<void> => {
    const ended = await deps.unitOfWork.run(async (stores) => {
      const { id: userId } = await lockedLiveUser(deps, stores, caller);
      return endSession(deps, stores, { id, userId }, { reason: 'ended-by-user', origin });
    });
    if (!ended) throw new AppError('DB_RECORD_NOT_FOUND', { reason: 'the user has no such session' });
  };
