import { AppError } from '../../domain/errors/app-error.ts';
import type { User } from '../../domain/user.ts';
import type { LoginAttempts } from '../ports/login-attempts.ts';
import type { PasswordHasher } from '../ports/password-hasher.ts';
import type { Stores } from '../ports/unit-of-work.ts';
import type { UserRepository } from '../ports/user-repository.ts';
import { comparePassword } from './compare-password.ts';
import { deviceAttempt } from './login-attempt.ts';

export type UserWithPasswordDeps = {
  readonly users: UserRepository;
  readonly attempts: LoginAttempts;
  readonly hasher: PasswordHasher;
};

/** An authenticated request that repeats the password. */
export type RequestWithPassword = {
  readonly userId: string;
  readonly sessionId: string;
  /** `iat` of the request's access token, in seconds. */
  readonly tokenIssuedAt: number;
  readonly password: string;
};

/**
 * The user of a request, if the password is right. Wrong ones count for the device (ADR 0024). An access token outlives the moment
 * at which its account is disabled.
 * @throws AppError AUTH_CREDENTIALS_INVALID, AUTH_ACCOUNT_DISABLED, CLIENT_REQUEST_RATE_LIMIT_EXCEEDED, DB_RECORD_NOT_FOUND
 */
export const userWithPassword = async (
  deps: UserWithPasswordDeps,
  { userId, sessionId, tokenIssuedAt, password }: RequestWithPassword,
): Promise<User> => {
  const user = await deps.users.findById(userId);
  if (user === null) throw new AppError('DB_RECORD_NOT_FOUND', { reason: 'the user does not exist' });
  const device = deviceAttempt(user, { claims: { iat: tokenIssuedAt }, sessionId });
  const matches = await comparePassword(deps, [device], password, user.passwordHash);
  if (!matches) throw new AppError('AUTH_CREDENTIALS_INVALID');
  if (user.disabledAt !== null) throw new AppError('AUTH_ACCOUNT_DISABLED');
  return user;
};

/**
 * Whether the password that was compared is still that of the user, and the account is not disabled. Locks the user: in the same unit of
 * work nobody else changes either any more. If not, the password has to be compared again.
 */
export const isStillUserWithPassword = async (
  { users }: Pick<Stores, 'users'>,
  { id, passwordHash }: Pick<User, 'id' | 'passwordHash'>,
): Promise<boolean> => {
  await users.lock(id);
  const stored = await users.findById(id);
  return stored !== null && stored.passwordHash === passwordHash && stored.disabledAt === null;
};
