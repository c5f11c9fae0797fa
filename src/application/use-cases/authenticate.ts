import type { Clock } from '../ports/clock.ts';
import type { AccessToken, TokenSigner, Verified } from '../ports/token-signer.ts';

export type AuthenticateDeps = { readonly tokens: TokenSigner; readonly clock: Clock };

/** Whose request this is, and in which session. A result and no exception: the guard's strategies differ in what they make of a bad token. */
export const authenticate =
  ({ tokens, clock }: AuthenticateDeps) =>
  (accessToken: string): Promise<Verified<AccessToken>> =>
    tokens.verifyAccess(accessToken, clock.now());
