import { AppError } from '../../domain/errors/app-error.ts';
import type { Attempt, LoginAttempts } from '../ports/login-attempts.ts';
import type { PasswordHasher } from '../ports/password-hasher.ts';

type ComparePasswordDeps = { readonly attempts: LoginAttempts; readonly hasher: PasswordHasher };

/**
 * Compares a password, unless too many attempts before it failed (ADR 0024). An attempt whose comparison fails with an error
 * is not counted.
 * @param candidates what the attempt may be counted as, in order of preference: it is counted as the first that need not wait.
 * @param hash `null` when there is no such account.
 * @throws AppError CLIENT_REQUEST_RATE_LIMIT_EXCEEDED when every candidate has to wait.
 */
export const comparePassword = async (
  { attempts, hasher }: ComparePasswordDeps,
  candidates: readonly Attempt[],
  password: string,
  hash: string | null,
): Promise<boolean> => {
  const attempt = await begin(attempts, candidates);
  const matches = await hasher.verify(password, hash).catch(async (error: unknown) => {
    await attempts.withdraw(attempt);
    throw error;
  });
  if (matches) await attempts.succeed(attempt);
  return matches;
};

const begin = async (attempts: LoginAttempts, candidates: readonly Attempt[]): Promise<Attempt> => {
  const waits: number[] = [];
  for (const attempt of candidates) {
    const wait = await attempts.begin(attempt);
    if (wait === 0) return attempt;
    waits.push(wait);
  }
  throw tooManyFailures(Math.min(...waits));
};

const tooManyFailures = (wait: number): AppError =>
  new AppError('CLIENT_REQUEST_RATE_LIMIT_EXCEEDED', {
    reason: 'too many wrong passwords for one account',
    retryAfter: Math.ceil(wait / 1000),
  });
