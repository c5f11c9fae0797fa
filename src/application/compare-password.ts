import { AppError } from '../domain/errors/app-error.ts';
import type { Attempt, LoginAttempts } from './ports/login-attempts.ts';
import type { PasswordHasher } from './ports/password-hasher.ts';

export type ComparePasswordDeps = { readonly attempts: LoginAttempts; readonly hasher: PasswordHasher };

/**
 * Compares a password unless too many before it were wrong (ADR 0024). A comparison that came to no end does not count.
 * @param hash `null` when there is no such account.
 * @throws AppError CLIENT_REQUEST_RATE_LIMIT_EXCEEDED
 */
export const comparePassword =
  ({ attempts, hasher }: ComparePasswordDeps) =>
  async (attempt: Attempt, password: string, hash: string | null): Promise<boolean> => {
    const wait = await attempts.begin(attempt);
    if (wait > 0) throw tooManyFailures(wait);
    const matches = await hasher.verify(password, hash).catch(async (error: unknown) => {
      await attempts.withdraw(attempt);
      throw error;
    });
    if (matches) await attempts.succeed(attempt);
    return matches;
  };

const tooManyFailures = (wait: number): AppError =>
  new AppError('CLIENT_REQUEST_RATE_LIMIT_EXCEEDED', {
    reason: 'too many wrong passwords for one account',
    headers: { 'Retry-After': String(Math.ceil(wait / 1000)) },
  });
