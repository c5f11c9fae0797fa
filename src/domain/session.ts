import type { Device } from './device.ts';

/**
 * A session is one family of refresh tokens: the one issued at log-in and all that it was rotated into (RFC 9700 §4.14.2).
 * Times are epoch milliseconds.
 */
export type Session = {
  /** ULID; the `sid` of every refresh token of the family. */
  readonly id: string;
  readonly userId: string;
  /** `jti` of the one token that may be used. */
  readonly currentTokenId: string;
  /** `jti` of the token that was rotated into the current one; `null` until the first rotation. */
  readonly previousTokenId: string | null;
  /** When the current token was issued. */
  readonly rotatedAt: number;
  readonly createdAt: number;
  /** When the current token, and with it the session, is over. */
  readonly expiresAt: number;
} & Device;

/** A session is found by both: whoever names another user's finds nothing. */
export type SessionKey = Pick<Session, 'id' | 'userId'>;

/** So many live sessions a user may have; of more, those that were used least recently end. */
export const SESSIONS_PER_USER = 50;

/** How long, in milliseconds, the immediate predecessor of the current token is forgiven or served. ADR 0003. */
export type ReplayPolicy = {
  /** Within this time of its rotation its replay is a race, not a theft. */
  readonly raceWindow: number;
  /** Within this time of its rotation it yields its successor again; 0 is never. */
  readonly replayWindow: number;
};

/** What a refresh token that is genuine says about the session it was presented for. */
export type TokenStanding =
  /** May be rotated. */
  | 'current'
  /** Yields the current token again. */
  | 'replayable'
  /** Refused, and the session lives: two tabs raced, or an answer was lost. */
  | 'raced'
  /** Refused, and the session ends: somebody has a copy. */
  | 'reused'
  /** Refused: there is no such session any more. */
  | 'over';

export const newSession = (input: {
  id: string;
  userId: string;
  tokenId: string;
  now: number;
  lifetime: number;
  device: Device;
}): Session => ({
  id: input.id,
  userId: input.userId,
  currentTokenId: input.tokenId,
  previousTokenId: null,
  rotatedAt: input.now,
  createdAt: input.now,
  expiresAt: input.now + input.lifetime,
  userAgent: input.device.userAgent,
  address: input.device.address,
});

/** One step of a session from its current token to the next. */
export type Rotation = {
  readonly sessionId: string;
  readonly userId: string;
  /** `jti` of the token that is used up. */
  readonly from: string;
  /** `jti` of the token that takes its place. */
  readonly to: string;
  readonly at: number;
  /** When the new token, and with it the session, is over. */
  readonly expiresAt: number;
};

/** The order in which a user's sessions are listed: the one that was used last comes first. */
export const byLastUse = (a: Session, b: Session): number => b.rotatedAt - a.rotatedAt || (a.id < b.id ? 1 : -1);

export const isLive = (session: Session, now: number): boolean => now < session.expiresAt;

/** The session after the step, or `null` when it may not take it: another token is current, or the session is over. */
export const rotated = (session: Session, { from, to, at, expiresAt }: Rotation): Session | null =>
  session.currentTokenId === from && isLive(session, at)
    ? { ...session, currentTokenId: to, previousTokenId: from, rotatedAt: at, expiresAt }
    : null;

/**
 * The session before the step, or `null` when that step is not its last one. The predecessor of `from` is not known any more,
 * and what the step moved in time stays moved: no token but `from` can be used for it.
 */
export const reverted = (session: Session, { from, to }: Rotation): Session | null =>
  session.currentTokenId === to ? { ...session, currentTokenId: from, previousTokenId: null } : null;

export const tokenStanding = (
  session: Session | null,
  tokenId: string,
  now: number,
  policy: ReplayPolicy,
): TokenStanding => {
  if (session === null || !isLive(session, now)) return 'over';
  if (tokenId === session.currentTokenId) return 'current';
  if (tokenId !== session.previousTokenId) return 'reused';
  // Another instance, whose clock is ahead, may have rotated it.
  const age = Math.max(0, now - session.rotatedAt);
  if (age < policy.replayWindow) return 'replayable';
  return age <= policy.raceWindow ? 'raced' : 'reused';
};
