import { AppError } from '../../domain/errors/app-error.ts';
import type { SessionKey } from '../../domain/session.ts';
import type { SessionRepository } from '../ports/session-repository.ts';

/**
 * Ends a session of a user's own. Its access tokens live on until they expire.
 * @throws AppError DB_RECORD_NOT_FOUND when the user has no such session, whoever else does.
 */
export const endOwnSession =
  ({ sessions }: { readonly sessions: SessionRepository }) =>
  async (key: SessionKey): Promise<void> => {
    if (!(await sessions.end(key)))
      throw new AppError('DB_RECORD_NOT_FOUND', { reason: 'the user has no such session' });
  };
