import { canonicalAccount } from '../../domain/account.ts';
import { deviceParty } from '../../domain/login-throttle.ts';
import { isIssuedAfter } from '../../domain/tokens.ts';
import type { User } from '../../domain/user.ts';
import type { Clock } from '../ports/clock.ts';
import type { Attempt } from '../ports/login-attempts.ts';
import type { TokenSigner } from '../ports/token-signer.ts';
import { genuineTokens } from './genuine-tokens.ts';

export type LoginAttemptDeps = {
  readonly tokens: TokenSigner;
  readonly clock: Clock;
};

/** Where a log-in comes from. */
export type LoginSource = {
  /** The networks that the client is in, the widest first. */
  readonly networks: readonly string[];
  /** The refresh tokens that it carries: those of a device that has logged in before. */
  readonly refreshTokens: readonly string[];
};

/** A token that is known to be genuine. `iat` is in seconds. */
type Shown = { readonly claims: { readonly iat: number }; readonly sessionId: string };

/** All tokens that may be older than the password: one device together, however many they are. */
const OUTDATED = 'outdated';

/** What a try on a device counts as that shows a token of the user. All devices of a user have one count. */
export const deviceAttempt = (user: User, { claims, sessionId }: Shown): Attempt => ({
  key: `devices ${user.id}`,
  party: deviceParty(isIssuedAfter(claims, user.passwordChangedAt) ? sessionId : OUTDATED),
});

/**
 * What a log-in may count as, best first (ADR 0024). A device that shows a genuine refresh token of the very user, whatever
 * became of its session, is no stranger, unless the password was changed since: whoever has the token knew another one.
 */
export const loginAttempts =
  ({ tokens, clock }: LoginAttemptDeps) =>
  async (account: string, user: User | null, { networks, refreshTokens }: LoginSource): Promise<readonly Attempt[]> => {
    const stranger: Attempt = {
      key: `account ${canonicalAccount(account)}`,
      party: { kind: 'network', names: networks },
    };
    if (user === null) return [stranger];
    const genuine = await genuineTokens(tokens, refreshTokens, clock.now());
    const shown = genuine.find(({ claims }) => claims.sub === user.id && isIssuedAfter(claims, user.passwordChangedAt));
    return shown === undefined ? [stranger] : [deviceAttempt(user, shown), stranger];
  };
