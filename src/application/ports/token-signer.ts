import type { EndedList } from '../../domain/ended-session.ts';
import type { AccessClaims, RefreshClaims } from '../../domain/tokens.ts';

export type AccessToken = { readonly claims: AccessClaims; readonly sessionId: string };

export type RefreshToken = { readonly claims: RefreshClaims; readonly sessionId: string; readonly rotation: number };

/** Why a token is rejected, for the log. Clients are told only whether the proof of the token's key is at fault. */
export type TokenProblem =
  | 'too_long'
  /** Not a JWT in compact serialization. */
  | 'malformed'
  /** Another algorithm, or a critical extension (RFC 7515 §4.1.11). */
  | 'unsupported'
  | 'unknown_key'
  | 'invalid_signature'
  | 'expired'
  | 'wrong_issuer_or_audience'
  /** The header or the claims are not those of this kind of token. */
  | 'unexpected_claims'
  /** RFC 9449 §7.1. `needless`: the token is bound to no key. */
  | `proof_${'missing' | 'needless' | 'invalid' | 'untimely' | 'used'}`;

export type Verification<T> =
  | { readonly ok: true; readonly token: T }
  | { readonly ok: false; readonly reason: TokenProblem };

/**
 * Signs and verifies access and refresh tokens. Verification throws no error because of the content of a token, but returns why it rejects the token.
 * - returns the claims, the session and the number that it signed
 * - rejects a token from the second of its expiry on
 * - rejects a token that was changed in any part
 * - rejects an access token as a refresh token, and vice versa
 * - rejects a token signed with another key
 * - rejects a token that says it is not signed
 * - rejects a text that is not a token
 */
export interface TokenSigner {
  signAccess(token: AccessToken): Promise<string>;
  signRefresh(token: RefreshToken): Promise<string>;
  /** @param now epoch milliseconds; `exp` is compared with it without tolerance. */
  verifyAccess(token: string, now: number): Promise<Verification<AccessToken>>;
  verifyRefresh(token: string, now: number): Promise<Verification<RefreshToken>>;
  /** Signs the list with the key of access tokens. Without this method, the list is not published (ADR 0029). */
  signEnded?(list: EndedList, now: number): Promise<string>;
}
