import { type Amr, type Assurance, type Authenticated, assuranceOf, assuredAt } from './assurance.ts';
import type { Attributes } from './attributes.ts';
import type { Session } from './session.ts';
import { type PublicUser, publicUser, type User } from './user.ts';

/** Claims that both tokens carry: RFC 7519 §4.1. `iat` and `exp` are NumericDates, in seconds. */
type RegisteredClaims = {
  readonly sub: string;
  readonly iat: number;
  readonly exp: number;
  /** ULID, unique to the token. */
  readonly jti: string;
};

/** SPEC "Access token". The user's times are epoch milliseconds here and ISO 8601 in the token. */
export type AccessClaims = RegisteredClaims & {
  readonly tokenType: 'access';
  readonly user: PublicUser;
  /** For other services: those of the user when the token was issued, and of a hook. Only if there are some. This service does not read them. */
  readonly attributes?: Attributes;
  /** The session. Only if it is configured. */
  readonly sid?: string;
  /** RFC 9449 §6.1: the key of the session's device, of which each request with the token has to have a proof. Only if it is configured. */
  readonly cnf?: { readonly jkt: string };
} & Partial<AuthenticationClaims>;

/** How and when the user has authenticated: RFC 9068 §2.2.1. Only if they are configured. */
export type AuthenticationClaims = {
  /** NumericDate: when the user has last presented all that `acr` takes. */
  readonly auth_time: number;
  readonly amr: readonly Amr[];
  readonly acr: Assurance;
};

/** SPEC "Refresh token". It contains the id of the user, and nothing else about the user. */
export type RefreshClaims = RegisteredClaims & { readonly tokenType: 'refresh' };

const numericDate = (milliseconds: number): number => Math.floor(milliseconds / 1000);

/**
 * Whether a token was certainly issued after a time. `iat` is in whole seconds: a token of the same second counts as older.
 * @param time epoch milliseconds.
 */
export const isIssuedAfter = ({ iat }: { readonly iat: number }, time: number): boolean => iat * 1000 > time;

const authenticationClaims = (authenticated: Authenticated): AuthenticationClaims => ({
  auth_time: numericDate(assuredAt(authenticated)),
  amr: authenticated.amr,
  acr: assuranceOf(authenticated.amr),
});

export type ClaimedUser = PublicUser & Pick<User, 'attributes' | 'disabledAt'>;

/**
 * Whether a user may have tokens: who exists, and is not disabled. Log-ins ask for more (`assertMayLogIn`); nothing asks for less.
 * @param user as stored; `null` when there is none.
 */
export const mayHaveTokens = <Stored extends Pick<User, 'disabledAt'>>(user: Stored | null): user is Stored =>
  user !== null && user.disabledAt === null;

/**
 * @param lifetime in milliseconds.
 * @param authenticated `null`: no claims about it.
 */
export const accessClaims = (input: {
  user: ClaimedUser;
  tokenId: string;
  now: number;
  lifetime: number;
  authenticated: Authenticated | null;
}): AccessClaims => ({
  sub: input.user.id,
  iat: numericDate(input.now),
  exp: numericDate(input.now + input.lifetime),
  jti: input.tokenId,
  tokenType: 'access',
  user: publicUser(input.user),
  ...(Object.keys(input.user.attributes).length > 0 && { attributes: input.user.attributes }),
  ...(input.authenticated !== null && authenticationClaims(input.authenticated)),
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
