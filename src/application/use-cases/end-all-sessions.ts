import type { SessionRepository } from '../ports/session-repository.ts';

/**
 * Ends the sessions of a user. Their access tokens live on until they expire.
 * @returns a function of the user and of the session that stays; `null`: none does.
 */
export const endAllSessions =
  ({ sessions }: { readonly sessions: SessionRepository }) =>
  (userId: string, exceptId: string | null): Promise<void> =>
    sessions.endByUser(userId, exceptId);
