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
  /** When the current token was issued, and the previous one rotated. */
  readonly rotatedAt: number;
  /** What was rotated before the previous token, the newest first: as much as it takes to tell a race from a theft. */
  readonly earlierTokens: readonly RotatedToken[];
  readonly createdAt: number;
  /** When the current token, and with it the session, is over. */
  readonly expiresAt: number;
} & Device;

/** A refresh token that was rotated. */
export type RotatedToken = {
  /** `jti` */
  readonly tokenId: string;
  readonly rotatedAt: number;
};

/** So many earlier tokens a session remembers. Five tabs that wake at once rotate five times. */
export const EARLIER_TOKENS_KEPT = 16;

/** A session is found by both: whoever names another user's finds nothing. */
export type SessionKey = Pick<Session, 'id' | 'userId'>;

/** So many live sessions a user may have; of more, those that were used least recently end. */
export const SESSIONS_PER_USER = 50;

/** What the replay of a rotated token means, by the milliseconds since its own rotation. ADR 0003. */
export type ReplayPolicy = {
  /** Up to this age a replay is a race, not a theft. */
  readonly raceWindow: number;
  /** Below this age a replay yields the current token again, and a current token that replaced another yields itself; 0 is never. */
  readonly replayWindow: number;
};

/** What a refresh token that is genuine says about the session it was presented for. */
export type TokenStanding =
  /** May be rotated. */
  | 'current'
  /** Yields the current token again, which is not rotated. */
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
  /** `jti` of the token that is used up. */
  readonly from: string;
  /** `jti` of the token that takes its place. */
  readonly to: string;
  readonly at: number;
  /** When the new token, and with it the session, is over. */
  readonly expiresAt: number;
  /** What was rotated before this time is no race any more, and may be forgotten. */
  readonly racesSince: number;
};

/** What became of a rotation. */
export type RotationOutcome =
  | 'rotated'
  /** Nothing was changed: another token is current, or there is no such live session. */
  | 'stale'
  /** Nothing was changed, and nothing will be: the store came to it after its deadline (ADR 0022). */
  | 'too-late';

/** From when on the replay of a rotated token may be more than a theft. */
export const racesSince = ({ raceWindow, replayWindow }: ReplayPolicy, now: number): number =>
  now - Math.max(raceWindow, replayWindow);

/** The order in which a user's sessions are listed: the one that was used last comes first. */
export const byLastUse = (a: Session, b: Session): number => b.rotatedAt - a.rotatedAt || (a.id < b.id ? 1 : -1);

export const isLive = (session: Session, now: number): boolean => now < session.expiresAt;

/** The session after the step, or `null` when it may not take it: another token is current, or the session is over. */
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
 * The session before the step, or `null` when that step is not its last one. What the step moved in time stays moved: no token
 * but `from` can be used for it. That `from` is its own predecessor now does no harm: the current token is judged first.
 */
export const reverted = (session: Session, { from, to }: Rotation): Session | null =>
  session.currentTokenId === to ? { ...session, currentTokenId: from } : null;

/** What a genuine token of the session's family may do. A replay is judged by the time since that very token was rotated. */
export const tokenStanding = (
  session: Session | null,
  tokenId: string,
  now: number,
  policy: ReplayPolicy,
): TokenStanding => {
  if (session === null || !isLive(session, now)) return 'over';
  // Another instance, whose clock is ahead, may have rotated.
  const age = ({ rotatedAt }: { rotatedAt: number }) => Math.max(0, now - rotatedAt);
  if (tokenId === session.currentTokenId)
    return hasPredecessor(session) && age(session) < policy.replayWindow ? 'replayable' : 'current';
  const known = rotatedTokens(session).find((rotated) => rotated.tokenId === tokenId);
  const rotation = known ?? oldestOfFull(session);
  if (rotation === undefined) return 'reused';
  if (known !== undefined && age(known) < policy.replayWindow) return 'replayable';
  return age(rotation) <= policy.raceWindow ? 'raced' : 'reused';
};

/** Whether the current token took another's place: it is not the first, and no rotation was taken back to it. */
const hasPredecessor = ({ previousTokenId, currentTokenId }: Session): boolean =>
  previousTokenId !== null && previousTokenId !== currentTokenId;

/** A full list has dropped what was rotated before its last entry, perhaps just before: that counts as its last entry. */
const oldestOfFull = ({ earlierTokens }: Session): RotatedToken | undefined => earlierTokens[EARLIER_TOKENS_KEPT - 1];
