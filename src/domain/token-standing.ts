import { isLive, type Session } from './session.ts';
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
type Issued = {
  readonly claims: Pick<RefreshClaims, 'jti' | 'iat'>;
  /** Its number within its session. */
  readonly rotation: number;
};

/** Milliseconds after its rotation, up to which a token may be part of a race. */
const windowOf = ({ raceWindow, replayWindow }: ReplayPolicy): number => Math.max(raceWindow, replayWindow);

/** The times between which a token was issued, in epoch milliseconds. */
const earliestIssue = ({ claims }: Issued): number => claims.iat * 1000;
const latestIssue = (token: Issued): number => earliestIssue(token) + 999;

/**
 * Whether a rotation of this token now continues a run of rotations: the token was issued at most a window ago, and what was rotated
 * before it may still be part of a race. Otherwise the rotation begins a run.
 */
export const continuesRun = (token: Issued, now: number, policy: ReplayPolicy): boolean =>
  now - latestIssue(token) <= windowOf(policy);

/**
 * The standing of a genuine token of the session's family. A replay is assessed by the time since that token was rotated. The session
 * knows that time of its previous token and of the first of its run, and limits for the others of the run: however many tokens are
 * rotated, none is `raced` for longer than two windows and a second after it was issued.
 */
export const tokenStanding = (
  session: Session | null,
  token: Issued,
  now: number,
  policy: ReplayPolicy,
): TokenStanding => {
  if (session === null || !isLive(session, now)) return 'ended';
  // Never negative: another instance, whose clock is ahead, may have rotated the token.
  const age = (time: number) => Math.max(0, now - time);
  // The session does not know when a token that was restored by a revert was issued, so it cannot be issued again.
  const replayWindow = hasPredecessor(session) ? policy.replayWindow : 0;
  if (token.claims.jti === session.currentTokenId)
    return age(session.rotatedAt) < replayWindow ? 'replayable' : 'current';
  const rotated = rotationOf(session, token, windowOf(policy));
  if (rotated === null) return 'reused';
  if (age(rotated.earliest) < replayWindow) return 'replayable';
  return age(rotated.latest) <= windowOf(policy) ? 'raced' : 'reused';
};

/** The times between which a token was rotated, in epoch milliseconds; `null` if that was more than a window ago, or is not known. */
const rotationOf = (
  session: Session,
  token: Issued,
  window: number,
): { readonly earliest: number; readonly latest: number } | null => {
  const { previousTokenId, rotatedAt, rotation, runStartedAt, runFirst } = session;
  if (token.claims.jti === previousTokenId) return { earliest: rotatedAt, latest: rotatedAt };
  const earliest = earliestIssue(token);
  // Tokens of the version before all count as 0, and were rotated when the run began, or before.
  if (token.rotation === runFirst) return { earliest, latest: runStartedAt };
  // When the run began, more than a window had passed since its first token was issued, which is when this one was rotated at the latest.
  if (token.rotation < runFirst) return null;
  // Not rotated as far as the session knows.
  if (token.rotation >= rotation) return null;
  return { earliest, latest: Math.min(rotatedAt, latestIssue(token) + window) };
};

/** Whether the current token replaced another: it is not the first, and was not restored by a revert. */
const hasPredecessor = ({ previousTokenId, currentTokenId }: Session): boolean =>
  previousTokenId !== null && previousTokenId !== currentTokenId;
