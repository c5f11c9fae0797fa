import { AppError } from '../../domain/errors/app-error.ts';
import type { User } from '../../domain/user.ts';
import type { LoginAttempts } from '../ports/login-attempts.ts';
import type { PasswordHasher } from '../ports/password-hasher.ts';
import type { Stores } from '../ports/unit-of-work.ts';
import { comparePassword, deviceAttempt } from './compare-password.ts';
import { type Caller, type LiveUserDeps, liveUser, lockedLiveUser } from './live-user.ts';

export type UserWithPasswordDeps = LiveUserDeps & {
  readonly attempts: LoginAttempts;
  readonly hasher: PasswordHasher;
};

export type RequestWithPassword = Caller & {
  /** `iat` of the request's access token, in seconds. */
  readonly tokenIssuedAt: number;
  readonly password: string;
};

/**
 * The user of a request, if the password is right. Wrong ones count for the device (ADR 0024).
 * @throws AppError AUTH_CREDENTIALS_INVALID, AUTH_TOKEN_INVALID, CLIENT_REQUEST_RATE_LIMIT_EXCEEDED, DB_RECORD_NOT_FOUND
 */
export const userWithPassword = async (
  deps: UserWithPasswordDeps,
  { userId, sessionId, tokenIssuedAt, password }: RequestWithPassword,
): Promise<User> => {
  const user = await liveUser(deps, { userId, sessionId });
  const device = deviceAttempt(user, { claims: { iat: tokenIssuedAt }, sessionId });
  const matches = await comparePassword(deps, [device], password, user.passwordHash);
  if (!matches) throw new AppError('AUTH_CREDENTIALS_INVALID');
  return user;
};

/**
 * Locks the user, and returns whether the password that was compared is still the user's. If not, it has to be compared again.
 * @throws AppError AUTH_TOKEN_INVALID, DB_RECORD_NOT_FOUND
 */
export const isStillUserWithPassword = async (
  deps: Pick<LiveUserDeps, 'clock'>,
  stores: Pick<Stores, 'users' | 'sessions'>,
  caller: Caller,
  { passwordHash }: Pick<User, 'passwordHash'>,
): Promise<boolean> => (await lockedLiveUser(deps, stores, caller)).passwordHash === passwordHash;
