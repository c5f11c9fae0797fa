import { canonicalAccount } from '../domain/account.ts';
import type { User } from '../domain/user.ts';
import { genuineTokens } from './genuine-tokens.ts';
import type { Clock } from './ports/clock.ts';
import type { Attempt } from './ports/login-attempts.ts';
import type { TokenSigner } from './ports/token-signer.ts';

export type LoginAttemptDeps = {
  readonly tokens: TokenSigner;
  readonly clock: Clock;
};

/** Where a log-in comes from. */
export type Origin = {
  /** The client's network, in one spelling. */
  readonly network: string;
  /** The refresh tokens that it carries: those of a device that has logged in before. */
  readonly refreshTokens: readonly string[];
};

/**
 * What a log-in counts as (ADR 0024). A device that shows a genuine refresh token of the very user, whatever became of its
 * session, is counted alone, so that no stranger's failures keep it out.
 */
export const loginAttempt =
  ({ tokens, clock }: LoginAttemptDeps) =>
  async (account: string, user: User | null, { network, refreshTokens }: Origin): Promise<Attempt> => {
    const genuine = await genuineTokens(tokens, refreshTokens, clock.now());
    const known = genuine.find(({ claims }) => claims.sub === user?.id);
    const key = known !== undefined ? `device ${known.sessionId}` : `account ${canonicalAccount(account)}`;
    return { key, network };
  };
