import type { Authenticated } from './assurance.ts';
import { type Device, type DeviceKeys, deviceStatus, type Evidence, withProofIfValid } from './device.ts';
import type { UserInTokens } from './user.ts';

/** A session is one family of refresh tokens: the first one, and all its successors by rotation (RFC 9700 §4.14.2). Times are epoch milliseconds. */
export type Session = {
  /** ULID; the `sid` of every refresh token of the family. */
  readonly id: string;
  readonly userId: string;
  /** `jti` of the current token: the last one that was issued, apart from reverted rotations. */
  readonly currentTokenId: string;
  /** `jti` of the token that was rotated into the current one; after a revert, of the current one itself; `null` before both. */
  readonly previousTokenId: string | null;
  /** When the session was rotated last, even if that was reverted; before the first rotation, when it was opened. */
  readonly rotatedAt: number;
  /** The number of the current token, 0 for the first. A rotation that is reverted or prevented raises it, too: then the token itself has a lower number. */
  readonly rotation: number;
  /** When the current burst began. A burst is a row of rotations that follow each other within the race window (`continuesBurst` in tokens.ts). */
  readonly burstStartedAt: number;
  /** The number of the first token of the burst (`firstOfBurst`); 0 until the first rotation. */
  readonly burstFirst: number;
  readonly createdAt: number;
  /** When the session expires. Its current token expires then or, after a revert, before. */
  readonly expiresAt: number;
} & Device &
  DeviceKeys &
  Authenticated;

/** The end, by an operator, of all sessions that were opened, and devices that were remembered, until `at`. A task removes them in steps. */
export type MassEnding = {
  readonly id: string;
  readonly at: number;
  readonly note: string | null;
  readonly actor: string | null;
  /** The id of the last session that the task has looked at; `null` before its first step. */
  readonly cursor: string | null;
};

/** Whether a mass ending ends a session. A session that has taken over the authentication of an earlier one counts from that authentication. */
export const isEndedBy = (
  { createdAt, authenticatedAt }: Pick<Session, 'createdAt' | 'authenticatedAt'>,
  { at }: Pick<MassEnding, 'at'>,
): boolean => Math.min(createdAt, authenticatedAt) <= at;

/** A session is looked up by its id and its user together, so that no user finds the session of another user. */
export type SessionKey = Pick<Session, 'id' | 'userId'>;

/** How many live sessions a user may have. Beyond that, the least recently used ones end. */
export const SESSIONS_PER_USER = 50;

type NewSession = SessionKey & {
  readonly tokenId: string;
  readonly now: number;
  readonly lifetime: number;
  readonly device: Device;
  readonly keys: DeviceKeys;
  readonly authenticated: Authenticated;
};

export const newSession = ({ tokenId, now, lifetime, device, keys, authenticated, ...key }: NewSession): Session => ({
  ...authenticated,
  ...keys,
  ...device,
  ...key,
  currentTokenId: tokenId,
  previousTokenId: null,
  rotatedAt: now,
  rotation: 0,
  burstStartedAt: now,
  burstFirst: 0,
  createdAt: now,
  expiresAt: now + lifetime,
});

/** Replaces the token `from`, whose number is `number`, by the token `to`. `from` and `to` are values of `jti`. */
export type Rotation = {
  readonly sessionId: string;
  readonly userId: string;
  readonly from: string;
  /** `jti` of the token that has to be current: `from`, unless the database has lost the rotation that issued `from`. */
  readonly expected: string;
  /** The number that the session has to have: that of `from`, unless rotations were lost, or a rotation of `from` was reverted. */
  readonly expectedNumber: number;
  readonly number: number;
  readonly to: string;
  readonly at: number;
  /** When the new token expires, and the session with it, unless `maxAge` ends both before. */
  readonly expiresAt: number;
  /** The greatest age of a session, in milliseconds since its user has authenticated; `null`: it may be renewed for ever. */
  readonly maxAge: number | null;
  /** Whether `from` was issued so recently that the token before it may still be part of a race (`continuesBurst` in tokens.ts). False after lost rotations. */
  readonly continuesBurst: boolean;
  readonly device: Device;
  readonly evidence: Evidence;
};

/** The fields of a session that the store returns with its user. */
export type PartWithUser = Pick<Session, 'expiresAt' | 'deviceKey' | 'browserKey'> & Authenticated;

export type RotatedSession = PartWithUser & { readonly user: UserInTokens };

export type RotationOutcome =
  | RotatedSession
  /** There are no new tokens: another token or number is current, the session is not live, its device is not proven, or its user was deleted. */
  | 'stale';

export const partWithUser = (session: Session): PartWithUser => {
  const { expiresAt, deviceKey, browserKey, authenticatedAt, amr, knownAt, heldAt } = session;
  return { expiresAt, deviceKey, browserKey, authenticatedAt, amr, knownAt, heldAt };
};

export const byLastUse = (a: Session, b: Session): number => b.rotatedAt - a.rotatedAt || (a.id < b.id ? 1 : -1);

export const isLive = ({ expiresAt }: Pick<Session, 'expiresAt'>, now: number): boolean => now < expiresAt;

/** Whether this rotation is the first of a burst, or repeats the first one, which was reverted. */
const beginsBurst = ({ burstFirst }: Session, { continuesBurst, number }: Rotation): boolean =>
  !continuesBurst || number === burstFirst;

/** The number of the token `to`: greater than the numbers of all tokens that the database knows of. */
export const nextNumber = ({ number, expectedNumber }: Pick<Rotation, 'number' | 'expectedNumber'>): number =>
  Math.max(number, expectedNumber) + 1;

/** The number of the first token of a burst that begins with this rotation: that of `from`, or a lower one if the store has lost the rotation to `from`. */
export const firstOfBurst = ({ from, expected, number, expectedNumber }: Rotation): number =>
  from === expected ? number : Math.min(number - 1, expectedNumber);

/** Whether the session was rotated, even if that was reverted, less than `window` milliseconds ago. */
export const wasRotatedWithin = ({ previousTokenId, rotatedAt }: Session, window: number, now: number): boolean =>
  previousTokenId !== null && now - rotatedAt < window;

const expiryAfter = ({ authenticatedAt }: Session, { expiresAt, maxAge }: Rotation): number =>
  maxAge === null ? expiresAt : Math.min(expiresAt, authenticatedAt + maxAge);

const isExpected = ({ currentTokenId, rotation }: Session, { expected, expectedNumber }: Rotation): boolean =>
  currentTokenId === expected && rotation === expectedNumber;

/** The session after a rotation; `null` if the outcome of the rotation is `stale`. */
export const rotated = (session: Session, rotation: Rotation): Session | null =>
  isExpected(session, rotation) &&
  isLive(session, rotation.at) &&
  rotation.at < expiryAfter(session, rotation) &&
  deviceStatus(session, rotation.evidence) !== 'unproven'
    ? {
        ...withProofIfValid(session, rotation.evidence),
        ...rotation.device,
        currentTokenId: rotation.to,
        previousTokenId: rotation.from,
        rotatedAt: rotation.at,
        rotation: nextNumber(rotation),
        ...(beginsBurst(session, rotation) && { burstStartedAt: rotation.at, burstFirst: firstOfBurst(rotation) }),
        expiresAt: expiryAfter(session, rotation),
      }
    : null;

/**
 * Undoes a rotation, or prevents it if it has not happened yet: the session gets another number than the rotation expects. `null` if another rotation
 * or revert came first. The times stay, since the next rotation of `from` sets them. Equal current and previous tokens mark the revert.
 */
export const reverted = (session: Session, rotation: Rotation): Session | null => {
  const { from, to } = rotation;
  return session.currentTokenId === to || isExpected(session, rotation)
    ? { ...session, currentTokenId: from, previousTokenId: from, rotation: nextNumber(rotation) }
    : null;
};
