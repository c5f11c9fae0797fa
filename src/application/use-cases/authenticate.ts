import type { Clock } from '../ports/clock.ts';
import type { AccessToken, TokenSigner, Verified } from '../ports/token-signer.ts';

export type AuthenticateDeps = { readonly tokens: TokenSigner; readonly clock: Clock };

/** Verifies an access token. Returns a result instead of throwing, because a route may allow requests without a valid token. */
export const authenticate =
  ({ tokens, clock }: AuthenticateDeps) =>
  (accessToken: string): Promise<Verified<AccessToken>> =>
    tokens.verifyAccess(accessToken, clock.now());
