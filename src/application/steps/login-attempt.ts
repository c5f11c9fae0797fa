import { canonicalAccount } from '../../domain/account.ts';
import { deviceParty } from '../../domain/login-throttle.ts';
import { isIssuedAfter } from '../../domain/tokens.ts';
import type { User } from '../../domain/user.ts';
import type { Attempt } from '../ports/login-attempts.ts';
import type { RefreshToken } from '../ports/token-signer.ts';

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
