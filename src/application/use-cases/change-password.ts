import { AppError } from '../../domain/errors/app-error.ts';
import type { User } from '../../domain/user.ts';
import { type Cancellation, NEVER_CANCELLED } from '../cancellation.ts';
import type { Clock } from '../ports/clock.ts';
import type { LoginAttempts } from '../ports/login-attempts.ts';
import type { PasswordBlocklist } from '../ports/password-blocklist.ts';
import type { PasswordHasher } from '../ports/password-hasher.ts';
import type { SessionRepository } from '../ports/session-repository.ts';
import type { UserRepository } from '../ports/user-repository.ts';
import { assertPasswordAllowed } from '../steps/assert-password-allowed.ts';
import { comparePassword } from '../steps/compare-password.ts';
import { deviceAttempt } from '../steps/login-attempt.ts';

export type ChangePasswordDeps = {
  readonly users: UserRepository;
  readonly sessions: SessionRepository;
  readonly hasher: PasswordHasher;
  /** `null`: common passwords are allowed. */
  readonly blocklist: PasswordBlocklist | null;
  readonly attempts: LoginAttempts;
  readonly clock: Clock;
};

type ChangePasswordInput = {
  readonly userId: string;
  /** The session of the request; it stays open. */
  readonly sessionId: string;
  /** `iat` of the request's access token, in seconds. */
  readonly tokenIssuedAt: number;
  readonly currentPassword: string;
  /** Validated against the limits of the domain. */
  readonly newPassword: string;
};

/**
 * Changes the password of a user who knows the current one, then ends the user's other sessions. In this order the old password
 * cannot open a session in between; a log-in that compared the old one before checks it again (login.ts). If that
 * fails half-way, the old password is restored, so that a client can repeat the request (ADR 0032).
 * @throws AppError AUTH_CREDENTIALS_INVALID, CLIENT_PARAMS_VALIDATION_FAILED, CLIENT_REQUEST_RATE_LIMIT_EXCEEDED,
 *   DB_RECORD_NOT_FOUND
 */
export const changePassword = (deps: ChangePasswordDeps) => {
  const { users, hasher } = deps;
  const change = async (input: ChangePasswordInput, cancellation = NEVER_CANCELLED): Promise<void> => {
    const { userId, sessionId, tokenIssuedAt, currentPassword, newPassword } = input;
    const user = await users.findById(userId);
    if (user === null) throw new AppError('DB_RECORD_NOT_FOUND', { reason: 'the user does not exist' });
    assertPasswordAllowed(deps, { ...user, password: newPassword }, 'newPassword');
    const device = deviceAttempt(user, { claims: { iat: tokenIssuedAt }, sessionId });
    const matches = await comparePassword(deps, [device], currentPassword, user.passwordHash);
    if (!matches) throw new AppError('AUTH_CREDENTIALS_INVALID');

    cancellation.throwIfAborted();
    const passwordHash = await hasher.hash(newPassword);
    cancellation.throwIfAborted();
    const changed = await storePassword(deps, { user, passwordHash, sessionId }, cancellation);
    // The stored hash was replaced in the meantime, so the current password may be another one: compare again.
    if (!changed) return change(input, cancellation);
  };
  return change;
};

type NewPassword = {
  /** As read when the current password was compared. */
  readonly user: User;
  readonly passwordHash: string;
  readonly sessionId: string;
};

/** @returns false when the stored hash is no longer that of `user`; then nothing was changed. */
const storePassword = async (
  { users, sessions, clock }: ChangePasswordDeps,
  { user: { id, passwordHash: former }, passwordHash, sessionId }: NewPassword,
  cancellation: Cancellation,
): Promise<boolean> => {
  const replace = (replaces: string, replacement: string) =>
    users.setPasswordHash(id, { passwordHash: replacement, isOfNewPassword: true, now: clock.now(), replaces });
  try {
    if (!(await replace(former, passwordHash))) return false;
    await sessions.endByUser(id, sessionId);
    cancellation.throwIfAborted();
    return true;
  } catch (error) {
    // It may have been stored although the store reports a failure. Without the database it stays. The client gets the first error.
    await replace(passwordHash, former).catch(() => undefined);
    throw error;
  }
};
