import { AppError } from '../../domain/errors/app-error.ts';
import { type ThrottledClient, throttledDevice } from '../../domain/login-throttle.ts';
import { isPasswordHash, UNKNOWN_PASSWORD } from '../../domain/password.ts';
import { isIssuedAfter } from '../../domain/tokens.ts';
import { canonicalAccount, type User } from '../../domain/user.ts';
import type { Attempt, LoginAttempts } from '../ports/login-attempts.ts';
import type { RefreshToken } from '../ports/token-signer.ts';
import type { Service } from '../service.ts';
import { type CallerWithToken, liveUser } from '../sessions/current-user.ts';

/**
 * Compares a password, unless too many earlier attempts failed (ADR 0008). An attempt that ends with an error does not count, unless the former system was
 * asked: if that is slow only for wrong passwords, its time-outs would be free guesses.
 * @param candidates the ways to count the attempt, the preferred one first. The first one that need not wait counts it.
 * @param hidesMatch whether a right password takes as long as a wrong one, and does not reset the count of failures.
 * @throws AppError CLIENT_REQUEST_RATE_LIMIT_EXCEEDED when every candidate has to wait; SYS_HOOK_UNAVAILABLE; what the hasher or `attempts` throws.
 */
export const comparePassword = async (
  deps: Service,
  candidates: readonly Attempt[],
  password: string,
  user: User | null,
  { hidesMatch = false }: { readonly hidesMatch?: boolean } = {},
): Promise<boolean> => {
  const { attempts, verifyFormerPassword } = deps;
  const attempt = await beginAttempt(attempts, candidates);
  const asksFormerSystem = verifyFormerPassword !== undefined && user?.passwordHash === UNKNOWN_PASSWORD;
  const matches = await verifyPassword(deps, password, user, hidesMatch).catch(async (error: unknown) => {
    if (!asksFormerSystem) await attempts.withdraw(attempt);
    throw error;
  });
  if (matches && !hidesMatch) await attempts.succeed(attempt);
  return matches;
};

const verifyPassword = async (deps: Service, password: string, user: User | null, hidesMatch: boolean) => {
  const { hasher, verifyFormerPassword } = deps;
  const stored = user !== null && isPasswordHash(user.passwordHash) ? user.passwordHash : null;
  if (user?.passwordHash !== UNKNOWN_PASSWORD) return hasher.verify(password, stored, hidesMatch);
  // The comparison runs beside the question to the former system, so that this account takes at least as long as one that does not exist.
  const [isRight = false] = await Promise.all([verifyFormerPassword?.(user, password), hasher.verify(password, null)]);
  return isRight;
};

/** @throws AppError CLIENT_REQUEST_RATE_LIMIT_EXCEEDED when every candidate has to wait. */
export const beginAttempt = async (attempts: LoginAttempts, candidates: readonly Attempt[]): Promise<Attempt> => {
  const waits: number[] = [];
  for (const attempt of candidates) {
    const wait = await attempts.begin(attempt);
    if (wait === 0) return attempt;
    waits.push(wait);
  }
  throw new AppError('CLIENT_REQUEST_RATE_LIMIT_EXCEEDED', {
    reason: 'too many wrong passwords or codes for one account',
    retryAfter: Math.ceil(Math.min(...waits) / 1000),
  });
};

type LoginSource = { readonly networks?: readonly string[] | undefined; readonly verified?: readonly RefreshToken[] };

/** The session and the time of a verified token. `tokenIssuedAt` is in seconds. */
type VerifiedToken = Pick<CallerWithToken, 'sessionId' | 'tokenIssuedAt'>;
const verifiedTokenOf = ({ sessionId, claims }: RefreshToken) => ({ sessionId, tokenIssuedAt: claims.iat });

/** The name of all devices whose tokens may be older than the password: they count as one. */
const OUTDATED_DEVICES = 'outdated';

/** The attempt of a device that has a token of the user. All devices of a user share one key. */
const deviceAttempt = (user: User, { tokenIssuedAt: iat, sessionId }: VerifiedToken): Attempt => ({
  key: `devices ${user.id}`,
  client: throttledDevice(isIssuedAfter({ iat }, user.passwordChangedAt) ? sessionId : OUTDATED_DEVICES),
});

/** Guesses of codes are counted apart from guesses of the password. */
export const deviceCodeAttempt = (user: User, token: VerifiedToken): Attempt => ({
  ...deviceAttempt(user, token),
  key: `codes of devices ${user.id}`,
});

/** All networks together have one budget for the codes of a user, since codes are short, and an attacker may have many networks. */
const ANY_NETWORK: ThrottledClient = { kind: 'network', names: ['any'] };

/** The ways to count a code at a log-in, the preferred one first. @param token a refresh token of the user from the device of the request. */
export const codeAttempts = (user: User, token: RefreshToken | undefined): readonly Attempt[] => {
  const networkAttempt: Attempt = { key: `codes ${user.id}`, client: ANY_NETWORK };
  return token === undefined ? [networkAttempt] : [deviceCodeAttempt(user, verifiedTokenOf(token)), networkAttempt];
};

/** The key of the attempts on an account. It changes with the password, so that the owner need not wait after a reset. */
const accountKey = (account: string, user: User | null): string =>
  `account ${canonicalAccount(account)} ${user?.passwordChangedAt ?? 0}`;

/** The ways to count a log-in, the preferred one first (ADR 0008). A refresh token that is newer than the password shows a device of the user. */
export const loginAttempts = (
  account: string,
  user: User | null,
  { networks = ['unknown'], verified = [] }: LoginSource,
): readonly Attempt[] => {
  const networkAttempt: Attempt = { key: accountKey(account, user), client: { kind: 'network', names: networks } };
  const token = user && tokenOfUser(verified, user);
  return token ? [deviceAttempt(user, verifiedTokenOf(token)), networkAttempt] : [networkAttempt];
};

/** A token of this user that was issued after the last change of the password. */
export const tokenOfUser = (verified: readonly RefreshToken[], user: User): RefreshToken | undefined =>
  verified.find(({ claims }) => claims.sub === user.id && isIssuedAfter(claims, user.passwordChangedAt));

/** The keys by which `LoginAttempts` counts the attempts on an account with its present password. */
export const attemptKeys = (user: User): readonly string[] => [
  ...[user.username, user.email].map((account) => accountKey(account, user)),
  ...['devices', 'codes of devices', 'codes'].map((what) => `${what} ${user.id}`),
];

/** The user of a request with the right password. A wrong password counts as a failure of the device (ADR 0008). */
export const userWithPassword = async (
  deps: Service,
  input: CallerWithToken & { readonly password: string },
): Promise<User> => {
  const user = await liveUser(deps, input);
  const matches = await comparePassword(deps, [deviceAttempt(user, input)], input.password, user);
  if (!matches) throw new AppError('AUTH_CREDENTIALS_INVALID');
  return user;
};

/** @throws AppError AUTH_CREDENTIALS_INVALID when the password was changed after it was compared. */
export const assertSamePassword = (compared: User, user: User): User => {
  if (user.passwordChangedAt === compared.passwordChangedAt) return user;
  throw new AppError('AUTH_CREDENTIALS_INVALID', { reason: 'the password was changed meanwhile' });
};
