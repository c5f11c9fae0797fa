import { EARLIER_TOKENS_KEPT, isLive, rotatedTokens, type Session } from './session.ts';
import type { RefreshClaims } from './tokens.ts';

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

/** What is known of a genuine token from itself. `iat` is in whole seconds, rounded down. */
type Issued = Pick<RefreshClaims, 'jti' | 'iat'>;

/** Milliseconds after its rotation, up to which a token may be part of a race. */
const windowOf = ({ raceWindow, replayWindow }: ReplayPolicy): number => Math.max(raceWindow, replayWindow);

/** The latest time at which a token may have been issued, in epoch milliseconds. */
const latestIssue = ({ iat }: Issued): number => iat * 1000 + 999;

/**
 * Whether a rotation of this token now continues a run of rotations: the token was issued at most a window ago, and what was rotated
 * before it may still be part of a race. Otherwise the rotation begins a run.
 */
export const continuesRun = (token: Issued, now: number, policy: ReplayPolicy): boolean =>
  now - latestIssue(token) <= windowOf(policy);

/**
 * The standing of a genuine token of the session's family. A replay is assessed by the time since that token was rotated. If the session
 * has forgotten that time, it is assessed by the latest time that is possible, which is at most a window and a second after the token
 * was issued: however many tokens are rotated, none is part of a race for longer than two windows and a second.
 */
export const tokenStanding = (
  session: Session | null,
  token: Issued,
  now: number,
  policy: ReplayPolicy,
): TokenStanding => {
  if (session === null || !isLive(session, now)) return 'ended';
  // Never negative: another instance, whose clock is ahead, may have rotated the token.
  const age = (rotatedAt: number) => Math.max(0, now - rotatedAt);
  if (token.jti === session.currentTokenId)
    return hasPredecessor(session) && age(session.rotatedAt) < policy.replayWindow ? 'replayable' : 'current';
  const known = rotatedTokens(session).find(({ tokenId }) => tokenId === token.jti);
  if (known !== undefined) {
    if (age(known.rotatedAt) < policy.replayWindow) return 'replayable';
    return age(known.rotatedAt) <= policy.raceWindow ? 'raced' : 'reused';
  }
  const latest = latestForgottenRotation(session, token, policy);
  return latest !== null && age(latest) <= windowOf(policy) ? 'raced' : 'reused';
};

/**
 * The latest time at which a token that the session does not remember may have been rotated in its present run; `null` when the session
 * has forgotten none of the run. Forgotten are those between the two oldest, and each was rotated at most a window after it was issued.
 */
const latestForgottenRotation = ({ earlierTokens }: Session, token: Issued, policy: ReplayPolicy): number | null => {
  const next = earlierTokens[EARLIER_TOKENS_KEPT - 2];
  if (next === undefined || earlierTokens.length < EARLIER_TOKENS_KEPT) return null;
  return Math.min(next.rotatedAt, latestIssue(token) + windowOf(policy));
};

/** Whether the current token replaced another: it is not the first, and was not restored by a revert. */
const hasPredecessor = ({ previousTokenId, currentTokenId }: Session): boolean =>
  previousTokenId !== null && previousTokenId !== currentTokenId;
