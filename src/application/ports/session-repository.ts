import type { Rotation, Session } from '../../domain/session.ts';

/**
 * Where sessions are kept.
 * - finds a session by id
 * - finds nothing where there is nothing
 * - refuses a second session of one id, and keeps the first
 * - rotates a session whose current token is the one that is used up
 * - changes nothing when another token is current
 * - rotates no session that is over or was ended
 * - lets one of many concurrent rotations of one token win
 * - takes back a rotation, so that the token it used up is current again
 * - takes back nothing once the session was rotated on
 * - takes back nothing of a session that was ended or never rotated
 * - ends a session, and ends it again without complaint
 * - purges the sessions that are over, and only those
 * - finds a session no more that was over long ago and was purged
 * - stores nothing that is done to a session it was given or gave back
 */
export interface SessionRepository {
  /** @throws AppError DB_UNIQUE_VIOLATION for a taken id. */
  add(session: Session): Promise<void>;
  find(id: string): Promise<Session | null>;
  /**
   * Compares and swaps in one atomic step.
   * @returns whether this call won.
   * @throws AppError DB_QUERY_FAILED when that is not known: it may have won, and then `revert` takes it back.
   */
  rotate(rotation: Rotation): Promise<boolean>;
  /** Takes back a rotation whose `to` nobody was given. May be repeated. ADR 0022. */
  revert(rotation: Rotation): Promise<void>;
  end(id: string): Promise<void>;
  /** Forgets sessions that are over, at most `limit` of them. @returns how many: 0 where they go by themselves. */
  purge(now: number, limit: number): Promise<number>;
}
