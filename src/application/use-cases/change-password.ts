import { AppError } from '../../domain/errors/app-error.ts';
import { NEVER_CANCELLED } from '../cancellation.ts';
import type { Clock } from '../ports/clock.ts';
import type { SessionRepository } from '../ports/session-repository.ts';
import type { UserRepository } from '../ports/user-repository.ts';
import { type AssertPasswordAllowedDeps, assertPasswordAllowed } from '../steps/assert-password-allowed.ts';
import { type ComparePasswordDeps, comparePassword } from '../steps/compare-password.ts';
import { deviceAttempt } from '../steps/login-attempt.ts';

export type ChangePasswordDeps = ComparePasswordDeps &
  AssertPasswordAllowedDeps & {
    readonly users: UserRepository;
    readonly sessions: SessionRepository;
    readonly clock: Clock;
  };

type Change = {
  readonly userId: string;
  /** The session that the change is made in, which stays. */
  readonly sessionId: string;
  /** Seconds: `iat` of the access token that the change is asked for with. */
  readonly tokenIssuedAt: number;
  readonly currentPassword: string;
  /** Held against the limits of the domain already. */
  readonly newPassword: string;
};

const gone = () => new AppError('DB_RECORD_NOT_FOUND', { reason: 'the user does not exist' });

/**
 * Changes the password of whoever knows it, then ends all other sessions: in this order, so that the old password cannot open
 * one in between. A log-in that compared it before looks again (login.ts).
 * @throws AppError AUTH_CREDENTIALS_INVALID, CLIENT_PARAMS_VALIDATION_FAILED, CLIENT_REQUEST_RATE_LIMIT_EXCEEDED,
 *   DB_RECORD_NOT_FOUND
 */
export const changePassword = (deps: ChangePasswordDeps) => {
  const { users, sessions, hasher, clock } = deps;
  const judge = assertPasswordAllowed(deps);
  const compare = comparePassword(deps);
  const attempt = async (change: Change, cancellation = NEVER_CANCELLED): Promise<void> => {
    const { userId, sessionId, tokenIssuedAt, currentPassword, newPassword } = change;
    const user = await users.findById(userId);
    if (user === null) throw gone();
    judge(newPassword, user, 'newPassword');
    const device = deviceAttempt(user, { claims: { iat: tokenIssuedAt }, sessionId });
    const matches = await compare([device], currentPassword, user.passwordHash);
    if (!matches) throw new AppError('AUTH_CREDENTIALS_INVALID');
    cancellation.throwIfAborted();
    const passwordHash = await hasher.hash(newPassword);
    cancellation.throwIfAborted();
    const changed = await users.setPasswordHash(userId, {
      passwordHash,
      isOfNewPassword: true,
      now: clock.now(),
      replaces: user.passwordHash,
    });
    // Somebody else was faster: the current password may be another by now.
    if (!changed) return attempt(change, cancellation);
    await sessions.endByUser(userId, sessionId);
  };
  return attempt;
};
