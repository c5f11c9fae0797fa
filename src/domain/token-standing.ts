import { EARLIER_TOKENS_KEPT, isLive, type RotatedToken, rotatedTokens, type Session } from './session.ts';

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
  | 'ended';

/** A token that was rotated before this time counts as reused if it is replayed now. */
export const racesSince = ({ raceWindow, replayWindow }: ReplayPolicy, now: number): number =>
  now - Math.max(raceWindow, replayWindow);

/** The standing of a genuine token of the session's family. A replay is assessed by the time since that token was rotated. */
export const tokenStanding = (
  session: Session | null,
  tokenId: string,
  now: number,
  policy: ReplayPolicy,
): TokenStanding => {
  if (session === null || !isLive(session, now)) return 'ended';
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
