import { AppError } from '../../domain/errors/app-error.ts';
import { NO_ORIGIN, type Origin } from '../../domain/event.ts';
import type { User } from '../../domain/user.ts';
import { type Cancellation, NEVER_CANCELLED } from '../cancellation.ts';
import type { LoginAttempts } from '../ports/login-attempts.ts';
import type { PasswordBlocklist } from '../ports/password-blocklist.ts';
import type { PasswordHasher } from '../ports/password-hasher.ts';
import type { UserRepository } from '../ports/user-repository.ts';
import { assertPasswordAllowed } from '../steps/assert-password-allowed.ts';
import { comparePassword, deviceAttempt } from '../steps/compare-password.ts';
import { endSessionsOf } from '../steps/end-sessions.ts';
import { withdrawLinks } from '../steps/links.ts';
import { type Caller, type LiveUserDeps, liveUser } from '../steps/live-user.ts';
import { type PrepareSessionDeps, replaceSession, type TokenPair } from '../steps/open-session.ts';
import { type ChangeDeps, type NoticeDeps, notifyOfPassword, record } from '../steps/record.ts';

export type ChangePasswordDeps = ChangeDeps &
  NoticeDeps &
  LiveUserDeps &
  PrepareSessionDeps & {
    readonly users: UserRepository;
    readonly hasher: PasswordHasher;
    /** `null`: common passwords are allowed. */
    readonly blocklist: PasswordBlocklist | null;
    readonly attempts: LoginAttempts;
  };

type ChangePasswordInput = Caller & {
  /** `iat` of the request's access token, in seconds. */
  readonly tokenIssuedAt: number;
  readonly currentPassword: string;
  /** Validated against the limits of the domain. */
  readonly newPassword: string;
  readonly origin?: Origin;
};

/**
 * Changes the password of a user who knows the current one. Ends the user's sessions and the links that an attacker may have requested,
 * and opens a session for the caller. The password is changed first, so that the old one cannot open a session in between; a concurrent
 * log-in checks its password again (login.ts). After a failure the old password is restored, so that the client can repeat the request
 * (ADR 0022).
 * @throws AppError AUTH_CREDENTIALS_INVALID, AUTH_TOKEN_INVALID, CLIENT_PARAMS_VALIDATION_FAILED, CLIENT_REQUEST_RATE_LIMIT_EXCEEDED,
 *   DB_RECORD_NOT_FOUND
 */
export const changePassword = (deps: ChangePasswordDeps) => {
  const { hasher } = deps;
  const change = async (input: ChangePasswordInput, cancellation = NEVER_CANCELLED): Promise<TokenPair> => {
    const { sessionId, tokenIssuedAt, currentPassword, newPassword, origin = NO_ORIGIN } = input;
    const user = await liveUser(deps, input);
    assertPasswordAllowed(deps, { ...user, password: newPassword }, 'newPassword');
    const device = deviceAttempt(user, { claims: { iat: tokenIssuedAt }, sessionId });
    const matches = await comparePassword(deps, [device], currentPassword, user.passwordHash);
    if (!matches) throw new AppError('AUTH_CREDENTIALS_INVALID');

    cancellation.throwIfAborted();
    const passwordHash = await hasher.hash(newPassword);
    cancellation.throwIfAborted();
    const pair = await storePassword(deps, { user, passwordHash, sessionId, origin }, cancellation);
    // Somebody else replaced the hash in the meantime: compare the current password again.
    return pair ?? change(input, cancellation);
  };
  return change;
};

type NewPassword = {
  /** As it was when the current password was compared. */
  readonly user: User;
  readonly passwordHash: string;
  readonly sessionId: string;
  readonly origin: Origin;
};

/** @returns `null` when the stored hash is no longer that of `user`; then nothing was changed. */
const storePassword = async (
  deps: ChangePasswordDeps,
  { user, passwordHash, sessionId, origin }: NewPassword,
  cancellation: Cancellation,
): Promise<TokenPair | null> => {
  const { id, passwordHash: former } = user;
  const replace = (users: UserRepository, replaces: string, replacement: string) =>
    users.setPasswordHash(id, { passwordHash: replacement, isOfNewPassword: true, now: deps.clock.now(), replaces });
  try {
    return await deps.unitOfWork.run(async (stores) => {
      if (!(await replace(stores.users, former, passwordHash))) return null;
      await record(deps, stores, origin, [{ userId: id, kind: 'password-changed', sessionId }]);
      await notifyOfPassword(deps, stores, user, origin);
      await endSessionsOf(deps, stores, { userId: id, exceptId: sessionId }, { reason: 'password-changed', origin });
      // An attacker with the old password may have requested a new address, and could still open that link.
      await withdrawLinks(stores, id, ['password-reset', 'email-change']);
      cancellation.throwIfAborted();
      const changed = (await stores.users.findById(id)) ?? user;
      const authentications = [{ method: 'password', at: deps.clock.now() }] as const;
      return replaceSession(deps, stores, { user: changed, sessionId, origin, authentications });
    });
  } catch (error) {
    // The change may be stored although the store reports a failure. If this fails too, the client gets the first error.
    await replace(deps.users, passwordHash, former).catch(() => undefined);
    throw error;
  }
};
