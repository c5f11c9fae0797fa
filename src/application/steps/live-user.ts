import { AppError } from '../../domain/errors/app-error.ts';
import { isLive } from '../../domain/session.ts';
import type { User } from '../../domain/user.ts';
import type { Clock } from '../ports/clock.ts';
import type { SessionRepository } from '../ports/session-repository.ts';
import type { Stores } from '../ports/unit-of-work.ts';

export type LiveUserDeps = { readonly sessions: SessionRepository; readonly clock: Clock };

/** The user of a request's access token, and the session in which the token was issued. */
export type Caller = { readonly userId: string; readonly sessionId: string };

/**
 * The stored user of a live session. An access token may outlive its session, so every use case of a user's own account calls this
 * (ADR 0013). One statement.
 * @throws AppError AUTH_TOKEN_INVALID when the session has ended or the account is disabled, DB_RECORD_NOT_FOUND when there is no such user.
 */
export const liveUser = async ({ sessions, clock }: LiveUserDeps, { userId, sessionId }: Caller): Promise<User> => {
  const found = await sessions.findWithUser({ id: sessionId, userId });
  if (found === null) throw new AppError('DB_RECORD_NOT_FOUND', { reason: 'the user does not exist' });
  const { user, expiresAt } = found;
  if (expiresAt === null || !isLive({ expiresAt }, clock.now())) throw refused('the session has ended');
  if (user.disabledAt !== null) throw refused('the account is disabled');
  return user;
};

/**
 * The same in a unit of work that changes something. Locks the user first, so that the session cannot end, and the account cannot be
 * disabled, before the unit does.
 */
export const lockedLiveUser = async (
  { clock }: Pick<LiveUserDeps, 'clock'>,
  { users, sessions }: Pick<Stores, 'users' | 'sessions'>,
  caller: Caller,
): Promise<User> => {
  await users.lock(caller.userId);
  return liveUser({ sessions, clock }, caller);
};

const refused = (reason: string): AppError => new AppError('AUTH_TOKEN_INVALID', { reason });
