import type { Rotation, RotationOutcome, Session, SessionKey } from '../../domain/session.ts';

/**
 * Stores sessions.
 * - finds a session by its id and its user
 * - does not find an unknown session, or one of another user
 * - distinguishes an id from the same id with trailing spaces
 * - rejects a second session with the same id and user, and keeps the first
 * - is not affected by changes to a session that it was given or has returned
 * - rotates a session by its current token
 * - remembers the tokens that were rotated before the previous one, 16 at most
 * - forgets those tokens when the last rotation can no longer be part of a race
 * - changes nothing when another token is current
 * - does not rotate a session that has expired or was ended
 * - accepts exactly one of many concurrent rotations of the same token
 * - reverts a rotation, so that the rotated token is current again
 * - keeps the remembered tokens when a rotation is reverted
 * - does not revert a rotation that was followed by another
 * - reverts nothing in a session that was ended or never rotated
 * - ends a session, and returns false when there is none
 * - does not end a session of another user
 * - ends all sessions of one user
 * - ends all sessions of one user except one
 * - lists the live sessions of one user, the most recently used first
 * - keeps the 50 most recently used live sessions of a user
 * - keeps exactly these 50 after many concurrent adds
 * - does not count expired sessions towards the 50
 * - purges expired sessions, and only those
 * - does not find a session that expired long ago and was purged
 */
export interface SessionRepository {
  /** @throws AppError DB_UNIQUE_VIOLATION when the id is taken. */
  add(session: Session): Promise<void>;
  find(key: SessionKey): Promise<Session | null>;
  /**
   * Compares and swaps the current token in one atomic step.
   * @throws AppError DB_QUERY_FAILED when the outcome is unknown: the rotation may have happened, and `revert` undoes it.
   */
  rotate(rotation: Rotation): Promise<RotationOutcome>;
  /** Undoes a rotation whose new token was not given to anybody. Idempotent. ADR 0022. */
  revert(rotation: Rotation): Promise<void>;
  /** @returns whether there was such a session. */
  end(key: SessionKey): Promise<boolean>;
  listByUser(userId: string, now: number): Promise<Session[]>;
  /** @param exceptId the id of the session that is not ended; `null` to end all. */
  endByUser(userId: string, exceptId: string | null): Promise<void>;
  /** Deletes expired sessions, at most `limit`. @returns how many; always 0 in a store that expires them itself. */
  purge(now: number, limit: number): Promise<number>;
}
