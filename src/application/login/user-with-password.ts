import { AppError } from '../../domain/errors/app-error.ts';
import type { User } from '../../domain/user.ts';
import type { LoginAttempts } from '../ports/login-attempts.ts';
import type { PasswordHasher } from '../ports/password-hasher.ts';
import type { Stores } from '../ports/transactions.ts';
import {
  type Caller,
  type CallerWithToken,
  type LiveUserDeps,
  liveUser,
  lockedLiveUser,
} from '../sessions/live-user.ts';
import { comparePassword, deviceAttempt } from './compare-password.ts';

export type UserWithPasswordDeps = LiveUserDeps & {
  readonly attempts: LoginAttempts;
  readonly hasher: PasswordHasher;
};

export type RequestWithPassword = CallerWithToken & { readonly password: string };

/**
 * The user of a request, if the password is right. Wrong ones count for the device (ADR 0008).
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
 * Locks the user in a transaction, and checks that the password is still the one that was compared. Another hash of it does not matter.
 * @throws AppError AUTH_CREDENTIALS_INVALID, AUTH_TOKEN_INVALID, DB_RECORD_NOT_FOUND
 */
export const lockedUserWithPassword = async (
  deps: Pick<LiveUserDeps, 'clock'>,
  stores: Pick<Stores, 'users' | 'sessions'>,
  caller: Caller,
  compared: User,
): Promise<User> => {
  const user = await lockedLiveUser(deps, stores, caller);
  assertSamePassword(compared, user);
  return user;
};

/** @throws AppError AUTH_CREDENTIALS_INVALID when the password was changed after it was compared. */
export const assertSamePassword = (compared: User, { passwordChangedAt }: User): void => {
  if (passwordChangedAt === compared.passwordChangedAt) return;
  throw new AppError('AUTH_CREDENTIALS_INVALID', { reason: 'the password was changed meanwhile' });
};
