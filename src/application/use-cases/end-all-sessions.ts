import type { SessionRepository } from '../ports/session-repository.ts';

export type EndAllSessionsDeps = { readonly sessions: SessionRepository };

/**
 * Ends the sessions of a user, except one: `exceptId`, or none when that is `null`. Access tokens that were issued stay valid
 * until they expire.
 */
export const endAllSessions =
  ({ sessions }: EndAllSessionsDeps) =>
  (userId: string, exceptId: string | null): Promise<void> =>
    sessions.endByUser(userId, exceptId);
