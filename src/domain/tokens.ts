import { type Amr, type Assurance, type Authenticated, assuranceOf, assuredAt } from './assurance.ts';
import type { Attributes } from './attributes.ts';
import { deviceStatus, type Evidence } from './device-binding.ts';
import { isLive, type Session } from './session.ts';
import { type PublicUser, publicUser, type User } from './user.ts';

/** Claims that both tokens carry: RFC 7519 §4.1. `iat` and `exp` are NumericDates, in seconds. */
type RegisteredClaims = {
  readonly sub: string;
  readonly iat: number;
  readonly exp: number;
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

/** @param lifetime in milliseconds. @param authenticated `null`: no claims about it. */
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

/**
 * The states of a refresh token that verifies, the best for its client first: when a request has several tokens, that decides which one
 * counts (ADR 0002). `src/application/sessions/README.md` shows this table.
 */
export const TOKEN_STATES = {
  recoverable: {
    when: 'it is newer than the current token: the database has lost rotations, by a fail-over or a restored backup',
    action: 'rotates it',
  },
  current: { when: 'it is the token of its session that was issued last', action: 'rotates it' },
  replayable: {
    when: 'it was rotated within the replay window, or replaced another one within it; or it was rotated, and the request proves the device of the session',
    action: 'issues the current token again',
  },
  raced: {
    when: 'it was rotated within the race window: by another tab, or a response was lost',
    action: 'refuses it',
  },
  unproven: { when: 'its session has a key of its device, and the request proves none', action: 'refuses it' },
  reused: { when: 'it was rotated before that: there is a copy of it', action: 'refuses it, and ends the session' },
  ended: { when: 'its session has expired or was ended', action: 'refuses it' },
} as const;

export type TokenStatus = keyof typeof TOKEN_STATES;

const RANKS: readonly string[] = Object.keys(TOKEN_STATES);

/** Orders statuses: negative when `a` is the better one for the client. */
export const byFavor = (a: TokenStatus, b: TokenStatus): number => RANKS.indexOf(a) - RANKS.indexOf(b);

export const isGood = (status: TokenStatus): boolean => byFavor(status, 'replayable') <= 0;

/** How the replay of a rotated token is treated, by the time since its rotation. ADR 0002. */
export type ReplayPolicy = {
  /** Milliseconds. Up to this age, a replay counts as a race, not as theft. */
  readonly raceWindow: number;
  /**
   * Milliseconds; 0 disables it. Below this age, a replay gets the current token again. So does the current token itself, if it replaced another one.
   */
  readonly replayWindow: number;
};

/** The parts of a token that count here. `iat` is in whole seconds, rounded down. */
type Issued = {
  readonly claims: Pick<RefreshClaims, 'jti' | 'iat'>;
  readonly rotation: number;
};

/** Milliseconds after its rotation in which a replayed token may be part of a race: the longer of the two windows. */
const longestWindow = ({ raceWindow, replayWindow }: ReplayPolicy): number => Math.max(raceWindow, replayWindow);

/** The earliest and the latest time at which a token was issued. */
const earliestIssue = ({ claims }: Issued): number => claims.iat * 1000;
const latestIssue = (token: Issued): number => earliestIssue(token) + 999;

/**
 * Whether a rotation of this token now continues a burst: the token was issued within the last window, so the token before it may still be
 * part of a race. Otherwise the rotation begins a burst.
 */
export const continuesBurst = (token: Issued, now: number, policy: ReplayPolicy): boolean =>
  now - latestIssue(token) <= longestWindow(policy);

/**
 * The status of a verified token of a session. A replay is judged by the time since its rotation. The session knows that time exactly for
 * the previous token and for the first token of the burst, and within limits for the others of the burst. No token is `raced` for longer than
 * two windows and a second after it was issued, however many rotations follow. For a session with a key, the proof of its device decides
 * instead of the time (ADR 0006).
 */
export const tokenStatus = (
  session: Session | null,
  token: Issued,
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
 * Whether the store has lost the rotation that issued a token. A revert gives the session a higher number, which no token has: what was issued
 * after the last rotation that is stored was lost, too.
 */
const isLost = (session: Session, token: Issued): boolean =>
  token.rotation > session.rotation ||
  (session.previousTokenId === session.currentTokenId && earliestIssue(token) > session.rotatedAt);

/** The status of a token whose rotation is stored, by the time since its rotation. */
const statusByTime = (session: Session, token: Issued, now: number, policy: ReplayPolicy): TokenStatus => {
  // Never negative: the clock of the instance that rotated the token may be ahead.
  const age = (time: number) => Math.max(0, now - time);
  // After a revert, the session does not know when its current token was issued, so the token cannot be issued again.
  const replayWindow = hasPredecessor(session) ? policy.replayWindow : 0;
  if (token.claims.jti === session.currentTokenId)
    return age(session.rotatedAt) < replayWindow ? 'replayable' : 'current';
  const rotated = rotationOf(session, token, longestWindow(policy));
  if (rotated === null) return 'reused';
  if (age(rotated.earliest) < replayWindow) return 'replayable';
  return age(rotated.latest) <= longestWindow(policy) ? 'raced' : 'reused';
};

/** The earliest and the latest time of a token's rotation, in epoch milliseconds; `null` if it is more than a window ago, or unknown. */
const rotationOf = (
  session: Session,
  token: Issued,
  window: number,
): { readonly earliest: number; readonly latest: number } | null => {
  const { previousTokenId, rotatedAt, rotation, burstStartedAt, burstFirst } = session;
  if (token.claims.jti === previousTokenId) return { earliest: rotatedAt, latest: rotatedAt };
  const earliest = earliestIssue(token);
  // The first token of a burst was rotated when it began, or before.
  if (token.rotation === burstFirst) return { earliest, latest: burstStartedAt };
  // Rotated at the latest when the first token of the burst was issued, which was more than a window before the burst began.
  if (token.rotation < burstFirst) return null;
  // The session has not rotated such a token.
  if (token.rotation >= rotation) return null;
  return { earliest, latest: Math.min(rotatedAt, latestIssue(token) + window) };
};

/** Whether the current token replaced another: it is not the first, and was not restored by a revert. */
const hasPredecessor = ({ previousTokenId, currentTokenId }: Session): boolean =>
  previousTokenId !== null && previousTokenId !== currentTokenId;
