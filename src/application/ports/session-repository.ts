import type { Rotation, RotationOutcome, Session, SessionKey } from '../../domain/session.ts';

/**
 * Where sessions are kept.
 * - finds a session by its id and its user
 * - finds nothing where there is nothing, and nothing of another user
 * - takes no id for another one with blanks behind it
 * - refuses a second session of one id and user, and keeps the first
 * - rotates a session whose current token is the one that is used up
 * - remembers what was rotated before the previous token, 16 tokens at most
 * - forgets that once the last rotation is no race any more
 * - keeps what it remembers when it takes a rotation back
 * - changes nothing when another token is current
 * - rotates no session that is over or was ended
 * - lets one of many concurrent rotations of one token win
 * - takes back a rotation, so that the token it used up is current again
 * - takes back nothing once the session was rotated on
 * - takes back nothing of a session that was ended or never rotated
 * - ends a session, and ends it again without complaint
 * - ends no session of another user
 * - lists the live sessions of one user, the last used first
 * - ends all sessions of one user
 * - ends all sessions of one user but one
 * - keeps the 50 live sessions of a user that were used last
 * - keeps exactly those of many concurrent adds
 * - counts no session that is over among them
 * - purges the sessions that are over, and only those
 * - finds a session no more that was over long ago and was purged
 * - stores nothing that is done to a session it was given or gave back
 */
export interface SessionRepository {
  /** @throws AppError DB_UNIQUE_VIOLATION for a taken id. */
  add(session: Session): Promise<void>;
  find(key: SessionKey): Promise<Session | null>;
  /**
   * Compares and swaps in one atomic step.
   * @throws AppError DB_QUERY_FAILED when the outcome is not known: it may be `rotated`, and then `revert` takes it back.
   */
  rotate(rotation: Rotation): Promise<RotationOutcome>;
  /** Takes back a rotation whose `to` nobody was given. May be repeated. ADR 0022. */
  revert(rotation: Rotation): Promise<void>;
  /** @returns whether there was such a session. */
  end(key: SessionKey): Promise<boolean>;
  listByUser(userId: string, now: number): Promise<Session[]>;
  /** @param exceptId the id of a session that stays; `null`: none does. */
  endByUser(userId: string, exceptId: string | null): Promise<void>;
  /** Forgets sessions that are over, at most `limit` of them. @returns how many: 0 where they go by themselves. */
  purge(now: number, limit: number): Promise<number>;
}
