import { AppError } from '../../domain/errors/app-error.ts';
import type { SessionKey } from '../../domain/session.ts';
import type { SessionRepository } from '../ports/session-repository.ts';

export type EndOwnSessionDeps = { readonly sessions: SessionRepository };

/**
 * Ends one session of a user. Access tokens that were issued in it stay valid until they expire.
 * @throws AppError DB_RECORD_NOT_FOUND when the user has no such session, even if another user has.
 */
export const endOwnSession =
  ({ sessions }: EndOwnSessionDeps) =>
  async (key: SessionKey): Promise<void> => {
    const ended = await sessions.end(key);
    if (!ended) throw new AppError('DB_RECORD_NOT_FOUND', { reason: 'the user has no such session' });
  };
