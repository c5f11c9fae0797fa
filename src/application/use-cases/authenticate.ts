import type { AccessClaims } from '../../domain/tokens.ts';
import type { Clock } from '../ports/clock.ts';
import type { TokenSigner, Verified } from '../ports/token-signer.ts';

export type AuthenticateDeps = { readonly tokens: TokenSigner; readonly clock: Clock };

/** Whose request this is. A result and no exception: the guard's strategies differ in what they make of a bad token. */
export const authenticate =
  ({ tokens, clock }: AuthenticateDeps) =>
  (accessToken: string): Promise<Verified<AccessClaims>> =>
    tokens.verifyAccess(accessToken, clock.now());
