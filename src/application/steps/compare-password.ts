import { canonicalAccount } from '../../domain/account.ts';
import { AppError } from '../../domain/errors/app-error.ts';
import { deviceParty } from '../../domain/login-throttle.ts';
import { isIssuedAfter } from '../../domain/tokens.ts';
import type { User } from '../../domain/user.ts';
import type { Attempt, LoginAttempts } from '../ports/login-attempts.ts';
import type { PasswordHasher } from '../ports/password-hasher.ts';
import type { RefreshToken } from '../ports/token-signer.ts';

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

/** Where a log-in comes from. */
type LoginSource = {
  /** The networks of the client, the widest first. */
  readonly networks: readonly string[];
  /** The genuine refresh tokens of the request: a device that has logged in before sends them. */
  readonly genuine: readonly RefreshToken[];
};

/** The parts of a verified token that count here. `iat` is in seconds. */
type VerifiedToken = { readonly claims: { readonly iat: number }; readonly sessionId: string };

/** The device of every token that may be older than the password: however many there are, they count as one. */
const OUTDATED = 'outdated';

/** The attempt of a device that presents a token of the user. All devices of a user share one count. */
export const deviceAttempt = (user: User, { claims, sessionId }: VerifiedToken): Attempt => ({
  key: `devices ${user.id}`,
  party: deviceParty(isIssuedAfter(claims, user.passwordChangedAt) ? sessionId : OUTDATED),
});

/**
 * Attempts on an account are counted from the last change of its password on: after a reset, its owner does not wait for what others
 * have tried before. Nobody else can cause one.
 */
const accountKey = (account: string, user: User | null): string =>
  `account ${canonicalAccount(account)} ${user?.passwordChangedAt ?? 0}`;

/**
 * What a log-in may be counted as, in order of preference (ADR 0024). A device with a genuine refresh token of this user counts
 * as the user's own, even if its session has ended, but not if the password was changed after the token was issued.
 */
export const loginAttempts = (
  account: string,
  user: User | null,
  { networks, genuine }: LoginSource,
): readonly Attempt[] => {
  const ofNetwork: Attempt = {
    key: accountKey(account, user),
    party: { kind: 'network', names: networks },
  };
  if (user === null) return [ofNetwork];
  const own = genuine.find(({ claims }) => claims.sub === user.id && isIssuedAfter(claims, user.passwordChangedAt));
  return own === undefined ? [ofNetwork] : [deviceAttempt(user, own), ofNetwork];
};
