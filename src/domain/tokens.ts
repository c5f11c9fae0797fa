import { type Amr, type Assurance, type Authenticated, assuranceOf, assuredAt } from './assurance.ts';
import type { Attributes } from './attributes.ts';
import { deviceStatus, type Evidence } from './device.ts';
import { isLive, type Session } from './session.ts';
import { type PublicUser, publicUser, type User, type UserInTokens } from './user.ts';

/** Claims that both tokens carry: RFC 7519 §4.1. `iat` and `exp` are NumericDates, in seconds. */
type RegisteredClaims = { readonly sub: string; readonly iat: number; readonly exp: number; readonly jti: string };

/** SPEC "Access token". The times of the user are epoch milliseconds here, and ISO 8601 in the token. */
export type AccessClaims = RegisteredClaims & {
  readonly tokenType: 'access';
  readonly user: PublicUser;
  /** Attributes of the user, and those that a hook has added, for other services. This service does not read them. */
  readonly attributes?: Attributes;
  /** The id of the session, if access tokens are configured to name it. */
  readonly sid?: string;
  /** RFC 9449 §6.1: the key of the session's device, if tokens are configured to be bound. Each request with the token then needs a proof of that key. */
  readonly cnf?: { readonly jkt: string };
} & Partial<AuthenticationClaims>;

/** How and when the user has authenticated (RFC 9068 §2.2.1), if access tokens are configured to say so. */
type AuthenticationClaims = {
  /** NumericDate: see `assuredAt`. */
  readonly auth_time: number;
  readonly amr: readonly Amr[];
  readonly acr: Assurance;
};

/** SPEC "Refresh token". Of the user, it has only the id. */
export type RefreshClaims = RegisteredClaims & { readonly tokenType: 'refresh' };

const numericDate = (milliseconds: number): number => Math.floor(milliseconds / 1000);

/** Whether a token was certainly issued after a time. `iat` is in whole seconds, so a token of the same second counts as older. */
export const isIssuedAfter = ({ iat }: { readonly iat: number }, time: number): boolean => iat * 1000 > time;

const authenticationClaims = (authenticated: Authenticated): AuthenticationClaims => ({
  auth_time: numericDate(assuredAt(authenticated)),
  amr: authenticated.amr,
  acr: assuranceOf(authenticated.amr),
});

/** Whether the user exists and is not disabled. Tokens are issued to no other user. A log-in may also require a verified address (`assertMayLogIn`). */
export const mayHaveTokens = <Stored extends Pick<User, 'disabledAt'>>(user: Stored | null): user is Stored =>
  user !== null && user.disabledAt === null;

/** @param lifetime in milliseconds. @param authenticated `null`: the token has no claims about the authentication. */
export const accessClaims = (input: {
  user: UserInTokens;
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

type CurrentToken = Pick<Session, 'userId' | 'currentTokenId' | 'rotatedAt' | 'expiresAt'>;

/** The claims of a session's current token. They depend on the session alone, so a token with the same claims can be issued again. */
export const refreshClaims = ({ userId, currentTokenId, rotatedAt, expiresAt }: CurrentToken): RefreshClaims => ({
  sub: userId,
  iat: numericDate(rotatedAt),
  exp: numericDate(expiresAt),
  jti: currentTokenId,
  tokenType: 'refresh',
});

/** The states of a verified refresh token, the best for the client first. Of several tokens in a request, `mostFavorable` chooses one (ADR 0002). */
export const TOKEN_STATES = {
  recoverable: {
    when: 'it is newer than the current token: the database has lost rotations, by a fail-over or a restored backup',
    action: 'rotates it',
  },
  current: {
    when: 'it is the token of its session that was issued last, or that a revert has restored',
    action: 'rotates it',
  },
  replayable: {
    when: 'it was rotated within the replay window, or replaced another one within it; or it was rotated, and the request proves the device of the session',
    action: 'issues the current token again',
  },
  raced: {
    when: 'it was rotated within the race window: maybe by another tab, or a response was lost',
    action: 'refuses it',
  },
  unproven: { when: 'its session has a key of its device, which the request does not prove', action: 'refuses it' },
  reused: { when: 'it was rotated before that: there may be a copy', action: 'refuses it, and ends the session' },
  ended: { when: 'its session has expired or was ended', action: 'refuses it' },
} as const;

export type TokenStatus = keyof typeof TOKEN_STATES;

const RANKS: readonly string[] = Object.keys(TOKEN_STATES);

/** Orders states: negative when `a` is better for the client. */
export const byFavor = (a: TokenStatus, b: TokenStatus): number => RANKS.indexOf(a) - RANKS.indexOf(b);

export const isRefreshable = (status: TokenStatus): boolean => byFavor(status, 'replayable') <= 0;

/** How a replay is treated, by the milliseconds since the rotation of its token (ADR 0002). */
export type ReplayPolicy = {
  /** Up to this age, a replay counts as a race, not as theft. */
  readonly jwtRefreshRaceWindow: number;
  /** Below this age, a replay gets the current token again, and so does a current token that replaced another one, except after a revert. 0 disables it. */
  readonly jwtRefreshReplayWindow: number;
};

/** `iat` is in whole seconds, rounded down. */
type IssuedToken = { readonly claims: Pick<RefreshClaims, 'jti' | 'iat'>; readonly rotation: number };

/** Milliseconds after the rotation of a token in which a replay of the token may be part of a race. */
const longestWindow = (policy: ReplayPolicy): number =>
  Math.max(policy.jwtRefreshRaceWindow, policy.jwtRefreshReplayWindow);

/** The earliest and the latest time at which a token can have been issued. */
const earliestIssue = ({ claims }: IssuedToken): number => claims.iat * 1000;
const latestIssue = (token: IssuedToken): number => earliestIssue(token) + 999;

/** Whether a rotation of this token now continues a burst: the token is so young that the one before it may still be part of a race. */
export const continuesBurst = (token: IssuedToken, now: number, policy: ReplayPolicy): boolean =>
  now - latestIssue(token) <= longestWindow(policy);

/**
 * The status of a verified token. The status of a rotated token depends on the time since its rotation: the session has that time for the previous
 * token, and its bounds for earlier tokens. No token is `raced` for longer than two windows and a second after its rotation. If a session has a key
 * that has to be proven, the proof decides about rotated tokens instead of the time (ADR 0006).
 */
export const tokenStatus = (
  session: Session | null,
  token: IssuedToken,
  { now, policy, evidence }: { readonly now: number; readonly policy: ReplayPolicy; readonly evidence: Evidence },
): TokenStatus => {
  if (session === null || !isLive(session, now)) return 'ended';
  const device = deviceStatus(session, evidence);
  if (device === 'unproven') return device;
  const isCurrent = token.claims.jti === session.currentTokenId;
  if (!isCurrent && isLost(session, token)) return 'recoverable';
  if (device === 'proven' && !isCurrent) return 'replayable';
  return statusByTime(session, token, now, policy);
};

/**
 * Whether the store has lost the rotation that issued a token: the number of the token is greater than that of the session. A revert raises the latter
 * without a rotation. So after a revert, equal numbers, or a token that was issued after the last known rotation, show a lost rotation, too.
 */
const isLost = (session: Session, token: IssuedToken): boolean =>
  token.rotation > session.rotation ||
  (session.previousTokenId === session.currentTokenId &&
    (token.rotation === session.rotation || earliestIssue(token) > session.rotatedAt));

/** The status of a token whose rotation is stored, by the time since its rotation. */
const statusByTime = (session: Session, token: IssuedToken, now: number, policy: ReplayPolicy): TokenStatus => {
  // The clock of the instance that rotated the token may be ahead.
  const age = (time: number) => Math.max(0, now - time);
  // After a revert, it is unknown when the current token was issued, so it cannot be issued again.
  const replayWindow = hasPredecessor(session) ? policy.jwtRefreshReplayWindow : 0;
  if (token.claims.jti === session.currentTokenId)
    return age(session.rotatedAt) < replayWindow ? 'replayable' : 'current';
  const rotationTime = rotationTimeOf(session, token, longestWindow(policy));
  if (rotationTime === null) return 'reused';
  if (age(rotationTime.earliest) < replayWindow) return 'replayable';
  return age(rotationTime.latest) <= longestWindow(policy) ? 'raced' : 'reused';
};

/** The earliest and the latest time of a token's rotation; `null` if it is more than a window ago, or unknown. */
const rotationTimeOf = (session: Session, token: IssuedToken, window: number) => {
  const { previousTokenId, rotatedAt, rotation, burstStartedAt, burstFirst } = session;
  if (token.claims.jti === previousTokenId) return { earliest: rotatedAt, latest: rotatedAt };
  const earliest = earliestIssue(token);
  // The first token of a burst was rotated when the burst began, or before.
  if (token.rotation === burstFirst) return { earliest, latest: burstStartedAt };
  // The token was rotated before the burst: more than a window before it, or, if rotations were lost, at an unknown time.
  if (token.rotation < burstFirst) return null;
  // The session has rotated no token with the current number or a greater one.
  if (token.rotation >= rotation) return null;
  return { earliest, latest: Math.min(rotatedAt, latestIssue(token) + window) };
};

/** Whether the current token replaced another one: it is not the first, and no revert has restored it. */
const hasPredecessor = ({ previousTokenId, currentTokenId }: Session): boolean =>
  previousTokenId !== null && previousTokenId !== currentTokenId;
