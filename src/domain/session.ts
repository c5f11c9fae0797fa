import type { Device } from './device.ts';
import type { User } from './user.ts';

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
  /**
   * Tokens rotated before the previous one in the present run of rotations, the newest first: those that are needed to distinguish a
   * race from a theft. The last is the first of the run.
   */
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

/**
 * How many earlier tokens a session remembers at most: the newest, and the first of the run. Five tabs that refresh at the same time
 * rotate five times.
 */
export const EARLIER_TOKENS_KEPT = 16;

/** Both are needed to find a session, so that no user can name another user's. */
export type SessionKey = Pick<Session, 'id' | 'userId'>;

/** How many live sessions a user may have. Beyond that, the least recently used are ended. */
export const SESSIONS_PER_USER = 50;

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

/** The replacement of a session's current token by the next one. */
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
  /**
   * Whether `from` was issued so recently that a token rotated before it may still be part of a race. If not, a new run of rotations
   * begins, and the earlier tokens are forgotten.
   */
  readonly continuesRun: boolean;
};

/** The result of a rotation: the user of the session, or why it was not rotated. */
export type RotationOutcome =
  | User
  /** Nothing was changed: another token is current, or the session is not live. */
  | 'stale'
  /** Nothing was changed: the store handled the rotation after its deadline, or rolled it back (ADR 0022). */
  | 'too-late';

/** The order of a user's sessions: the most recently used first. */
export const byLastUse = (a: Session, b: Session): number => b.rotatedAt - a.rotatedAt || (a.id < b.id ? 1 : -1);

export const isLive = ({ expiresAt }: Pick<Session, 'expiresAt'>, now: number): boolean => now < expiresAt;

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

/**
 * When too many tokens would be remembered, the second oldest is forgotten: the first of the run may have been issued long before it was
 * rotated, all others were rotated soon after they were issued, which their `iat` shows.
 */
const earlierTokensAfter = (
  { previousTokenId, rotatedAt, earlierTokens }: Session,
  { from, continuesRun }: Rotation,
): readonly RotatedToken[] => {
  if (!continuesRun || previousTokenId === null) return [];
  // The last rotation was reverted: its token was not rotated then, but is rotated now.
  if (previousTokenId === from) return earlierTokens;
  const kept =
    earlierTokens.length < EARLIER_TOKENS_KEPT ? earlierTokens : earlierTokens.toSpliced(EARLIER_TOKENS_KEPT - 2, 1);
  return [{ tokenId: previousTokenId, rotatedAt }, ...kept];
};

/** The remembered tokens of a session that were rotated, the newest first. */
export const rotatedTokens = ({ previousTokenId, rotatedAt, earlierTokens }: Session): readonly RotatedToken[] =>
  previousTokenId === null ? [] : [{ tokenId: previousTokenId, rotatedAt }, ...earlierTokens];

/**
 * The session with a rotation undone; `null` when that is not its last rotation. The new times are kept: only `from` can use
 * them. `from` is then also the previous token, which has no effect, since a token is first compared with the current one.
 */
export const reverted = (session: Session, { from, to }: Rotation): Session | null =>
  session.currentTokenId === to ? { ...session, currentTokenId: from } : null;
