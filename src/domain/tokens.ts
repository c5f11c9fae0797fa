import type { Session } from './session.ts';
import type { PublicUser, User } from './user.ts';
import { publicUser } from './user.ts';

/** Claims that both tokens carry: RFC 7519 §4.1. `iat` and `exp` are NumericDates, in seconds. */
type RegisteredClaims = {
  /** The user's id. */
  readonly sub: string;
  readonly iat: number;
  readonly exp: number;
  /** ULID, unique to the token. */
  readonly jti: string;
};

/** SPEC "Access token". The user's times are epoch milliseconds here and ISO 8601 in the token. */
export type AccessClaims = RegisteredClaims & { readonly tokenType: 'access'; readonly user: PublicUser };

/** SPEC "Refresh token". It contains the id of the user, and nothing else about the user. */
export type RefreshClaims = RegisteredClaims & { readonly tokenType: 'refresh' };

const numericDate = (milliseconds: number): number => Math.floor(milliseconds / 1000);

/**
 * Whether a token was certainly issued after a time. `iat` is in whole seconds: a token of the same second counts as older.
 * @param time epoch milliseconds.
 */
export const isIssuedAfter = ({ iat }: { readonly iat: number }, time: number): boolean => iat * 1000 > time;

/** @param lifetime in milliseconds. */
export const accessClaims = (input: { user: User; tokenId: string; now: number; lifetime: number }): AccessClaims => ({
  sub: input.user.id,
  iat: numericDate(input.now),
  exp: numericDate(input.now + input.lifetime),
  jti: input.tokenId,
  tokenType: 'access',
  user: publicUser(input.user),
});

/** The claims of a session's current token. They depend on the session alone, so the same token can be issued again. */
export const refreshClaims = (
  session: Pick<Session, 'userId' | 'currentTokenId' | 'rotatedAt' | 'expiresAt'>,
): RefreshClaims => ({
  sub: session.userId,
  iat: numericDate(session.rotatedAt),
  exp: numericDate(session.expiresAt),
  jti: session.currentTokenId,
  tokenType: 'refresh',
});
