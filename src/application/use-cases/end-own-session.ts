import { AppError } from '../../domain/errors/app-error.ts';
import { NO_ORIGIN } from '../../domain/event.ts';
import type { SessionKey } from '../../domain/session.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';
import { endSession } from '../steps/end-sessions.ts';
import type { RecordDeps } from '../steps/record.ts';

export type EndOwnSessionDeps = RecordDeps & { readonly unitOfWork: UnitOfWork };

/**
 * Ends one session of a user. Access tokens that were issued in it stay valid until they expire.
 * @throws AppError DB_RECORD_NOT_FOUND when the user has no such session, even if another user has.
 */
export const endOwnSession =
  (deps: EndOwnSessionDeps) =>
  async (key: SessionKey, origin = NO_ORIGIN): Promise<void> => {
    const ended = await deps.unitOfWork.run((stores) =>
      endSession(deps, stores, key, { reason: 'ended-by-user', origin }),
    );
    if (!ended) throw new AppError('DB_RECORD_NOT_FOUND', { reason: 'the user has no such session' });
  };
