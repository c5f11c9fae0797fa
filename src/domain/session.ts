import type { Device } from './device.ts';

/**
 * A session is one family of refresh tokens: the one issued at log-in and all its successors by rotation (RFC 9700 §4.14.2).
 * Times are epoch milliseconds.
 */
export type Session = {
  /** ULID; the `sid` of every refresh token of the family. */
  readonly id: string;
  readonly userId: string;
  /** `jti` of the only token that may be rotated. */
  readonly currentTokenId: string;
  /** `jti` of the token that was rotated into the current one; `null` until the first rotation. */
  readonly previousTokenId: string | null;
  /** When the current token was issued, which is when the previous one was rotated. */
  readonly rotatedAt: number;
  /** Tokens rotated before the previous one, the newest first: those that are needed to distinguish a race from a theft. */
  readonly earlierTokens: readonly RotatedToken[];
  readonly createdAt: number;
  /** When the current token expires, and the session with it. */
  readonly expiresAt: number;
} & Device;

/** A refresh token that was rotated. */
export type RotatedToken = {
  /** `jti` */
  readonly tokenId: string;
  readonly rotatedAt: number;
};

/** How many earlier tokens a session remembers at most. Five tabs that wake up at once rotate five times. */
export const EARLIER_TOKENS_KEPT = 16;

/** Both are needed to find a session, so that no user can name another user's. */
export type SessionKey = Pick<Session, 'id' | 'userId'>;

/** How many live sessions a user may have. Beyond that, the least recently used are ended. */
export const SESSIONS_PER_USER = 50;

/** How the replay of a rotated token is handled, by the milliseconds since that token was rotated. ADR 0003. */
export type ReplayPolicy = {
  /** Milliseconds. Up to this age, a replay counts as a race and not as a theft. */
  readonly raceWindow: number;
  /**
   * Milliseconds. Below this age, a replay returns the current token again, and so does a current token that replaced another;
   * 0 disables this.
   */
  readonly replayWindow: number;
};

/** What may be done with a genuine refresh token. */
export type TokenStanding =
  /** May be rotated. */
  | 'current'
  /** The current token is issued again, without a rotation. */
  | 'replayable'
  /** Rejected, and the session stays open: two tabs raced, or a response was lost. */
  | 'raced'
  /** Rejected, and the session ends: the token was copied. */
  | 'reused'
  /** Rejected: the session has expired or was ended. */
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
  earlierTokens: [],
  createdAt: input.now,
  expiresAt: input.now + input.lifetime,
  userAgent: input.device.userAgent,
  address: input.device.address,
});

/** One step of a session from its current token to the next. */
export type Rotation = {
  readonly sessionId: string;
  readonly userId: string;
  /** `jti` of the token that is rotated. */
  readonly from: string;
  /** `jti` of the token that replaces it. */
  readonly to: string;
  readonly at: number;
  /** When the new token expires, and the session with it. */
  readonly expiresAt: number;
  /** A replay of a token rotated before this time cannot be a race, so such tokens need not be remembered. */
  readonly racesSince: number;
};

/** The result of a rotation. */
export type RotationOutcome =
  | 'rotated'
  /** Nothing was changed: another token is current, or the session is not live. */
  | 'stale'
  /** Nothing was changed: the store handled the rotation after its deadline (ADR 0022). */
  | 'too-late';

/** The earliest time at which a token that is replayed now can have been rotated without counting as stolen. */
export const racesSince = ({ raceWindow, replayWindow }: ReplayPolicy, now: number): number =>
  now - Math.max(raceWindow, replayWindow);

/** The order of a user's sessions: the most recently used first. */
export const byLastUse = (a: Session, b: Session): number => b.rotatedAt - a.rotatedAt || (a.id < b.id ? 1 : -1);

export const isLive = (session: Session, now: number): boolean => now < session.expiresAt;

/** The session after a rotation; `null` when another token is current, or the session has expired. */
export const rotated = (session: Session, rotation: Rotation): Session | null =>
  session.currentTokenId === rotation.from && isLive(session, rotation.at)
    ? {
        ...session,
        currentTokenId: rotation.to,
        previousTokenId: rotation.from,
        rotatedAt: rotation.at,
        earlierTokens: earlierTokensAfter(session, rotation),
        expiresAt: rotation.expiresAt,
      }
    : null;

const earlierTokensAfter = (session: Session, { racesSince }: Rotation): readonly RotatedToken[] =>
  session.rotatedAt < racesSince ? [] : rotatedTokens(session).slice(0, EARLIER_TOKENS_KEPT);

const rotatedTokens = ({ previousTokenId, rotatedAt, earlierTokens }: Session): readonly RotatedToken[] =>
  previousTokenId === null ? [] : [{ tokenId: previousTokenId, rotatedAt }, ...earlierTokens];

/**
 * The session with a rotation undone; `null` when that is not its last rotation. The new times are kept: only `from` can use
 * them. `from` is then also the previous token, which has no effect, since a token is first compared with the current one.
 */
export const reverted = (session: Session, { from, to }: Rotation): Session | null =>
  session.currentTokenId === to ? { ...session, currentTokenId: from } : null;

/** The standing of a genuine token of the session's family. A replay is assessed by the time since that token was rotated. */
export const tokenStanding = (
  session: Session | null,
  tokenId: string,
  now: number,
  policy: ReplayPolicy,
): TokenStanding => {
  if (session === null || !isLive(session, now)) return 'over';
  // Never negative: another instance, whose clock is ahead, may have rotated the token.
  const age = ({ rotatedAt }: { rotatedAt: number }) => Math.max(0, now - rotatedAt);
  if (tokenId === session.currentTokenId)
    return hasPredecessor(session) && age(session) < policy.replayWindow ? 'replayable' : 'current';
  const known = rotatedTokens(session).find((rotated) => rotated.tokenId === tokenId);
  const rotation = known ?? oldestOfFull(session);
  if (rotation === undefined) return 'reused';
  if (known !== undefined && age(known) < policy.replayWindow) return 'replayable';
  return age(rotation) <= policy.raceWindow ? 'raced' : 'reused';
};

/** Whether the current token replaced another: it is not the first, and was not restored by a revert. */
const hasPredecessor = ({ previousTokenId, currentTokenId }: Session): boolean =>
  previousTokenId !== null && previousTokenId !== currentTokenId;

/** A full list has dropped older tokens, perhaps only just rotated: an unknown token is treated like its oldest entry. */
const oldestOfFull = ({ earlierTokens }: Session): RotatedToken | undefined => earlierTokens[EARLIER_TOKENS_KEPT - 1];
