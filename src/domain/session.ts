import { type DeviceKeys, deviceStatus, type Evidence, keysAfter } from './device-binding.ts';
import type { Device } from './event.ts';
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
  /** The number of the current token: 0 for the first, one more with each rotation. Tokens of earlier versions have no number, and count as 0. */
  readonly rotation: number;
  /** When the current run of rotations began. In a run, each token but the first is rotated within a window after it was issued. */
  readonly runStartedAt: number;
  /** The number of the token whose rotation began the run; 0 until the first rotation. */
  readonly runFirst: number;
  readonly createdAt: number;
  /** When the current token expires, and the session with it. */
  readonly expiresAt: number;
} & Device &
  DeviceKeys;

/** Both are needed to find a session, so that no user finds another user's. */
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
  keys: DeviceKeys;
}): Session => ({
  ...input.keys,
  id: input.id,
  userId: input.userId,
  currentTokenId: input.tokenId,
  previousTokenId: null,
  rotatedAt: input.now,
  rotation: 0,
  runStartedAt: input.now,
  runFirst: 0,
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
  /** `jti` of the token that has to be the session's current one: `from`, unless the store has forgotten the rotation that issued `from`. */
  readonly expected: string;
  /** The number of `from`; the token that replaces it has the next one. */
  readonly number: number;
  /** `jti` of the token that replaces it. */
  readonly to: string;
  readonly at: number;
  /** When the new token expires, and the session with it. */
  readonly expiresAt: number;
  /**
   * Whether `from` was issued so recently that the token before it may still be part of a race (`continuesRun`). If not, or if `from` is
   * the first token of the run, this rotation begins a run.
   */
  readonly continuesRun: boolean;
  /** Where the request comes from. */
  readonly device: Device;
  /** What it shows of the device that holds the session's key. */
  readonly evidence: Evidence;
};

/** The result of a rotation: the user of the session, or why it was not rotated. */
export type RotationOutcome =
  | User
  /** Nothing was changed: another token is current, the session is not live, or its device is not proven. */
  | 'stale'
  /** Nothing was changed: the store handled the rotation after its deadline, or rolled it back (ADR 0022). */
  | 'too-late';

/** The order of a user's sessions: the most recently used first. */
export const byLastUse = (a: Session, b: Session): number => b.rotatedAt - a.rotatedAt || (a.id < b.id ? 1 : -1);

export const isLive = ({ expiresAt }: Pick<Session, 'expiresAt'>, now: number): boolean => now < expiresAt;

/** The first token of a run may be rotated again after its rotation was reverted: then the run begins with the new rotation. */
const beginsRun = ({ runFirst }: Session, { continuesRun, number }: Rotation): boolean =>
  !continuesRun || number === runFirst;

/** The session after a rotation; `null` when it is `stale`. */
export const rotated = (session: Session, rotation: Rotation): Session | null =>
  session.currentTokenId === rotation.expected &&
  isLive(session, rotation.at) &&
  deviceStatus(session, rotation.evidence) !== 'unproven'
    ? {
        ...keysAfter(session, rotation.evidence),
        ...rotation.device,
        currentTokenId: rotation.to,
        previousTokenId: rotation.from,
        rotatedAt: rotation.at,
        rotation: rotation.number + 1,
        ...(beginsRun(session, rotation) && { runStartedAt: rotation.at, runFirst: rotation.number }),
        expiresAt: rotation.expiresAt,
      }
    : null;

/**
 * The session with a rotation undone; `null` when that is not its last rotation. The times and the number are kept, since the next
 * rotation of `from` sets them again. `from` is then also the previous token, which has no effect: a token is compared with the current one
 * first.
 */
export const reverted = (session: Session, { from, to }: Rotation): Session | null =>
  session.currentTokenId === to ? { ...session, currentTokenId: from } : null;
