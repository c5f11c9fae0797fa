import type { AccessClaims, RefreshClaims } from '../../domain/tokens.ts';

/** What an access token says once it is verified. */
export type AccessToken = { readonly claims: AccessClaims; readonly sessionId: string };

/** What a refresh token says once it is verified. */
export type RefreshToken = { readonly claims: RefreshClaims; readonly sessionId: string };

/** The outcome of a verification. Why a token failed is nobody's business but the log's. */
export type Verified<T> = { readonly ok: true; readonly token: T } | { readonly ok: false; readonly reason: string };

/**
 * Signs the two tokens and verifies them. Verification never throws for what a stranger wrote.
 * - gives back the claims and the session it signed
 * - refuses a token from the second on at which it expires
 * - refuses a token that was changed in any part
 * - refuses an access token as a refresh token, and the other way round
 * - refuses a token signed with another key
 * - refuses what is no token
 */
export interface TokenSigner {
  signAccess(token: AccessToken): Promise<string>;
  signRefresh(token: RefreshToken): Promise<string>;
  /** @param now epoch milliseconds, against which `exp` is judged without tolerance. */
  verifyAccess(token: string, now: number): Promise<Verified<AccessToken>>;
  verifyRefresh(token: string, now: number): Promise<Verified<RefreshToken>>;
}
