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
 * - ends a session, and ends it again without complaint
 * - purges the sessions that are over, and only those
 * - stores nothing that is done to a session it was given or gave back
 */
export interface SessionRepository {
  /** @throws AppError DB_UNIQUE_VIOLATION for a taken id. */
  add(session: Session): Promise<void>;
  find(id: string): Promise<Session | null>;
  /** Compares and swaps in one atomic step. @returns whether this call won. */
  rotate(rotation: Rotation): Promise<boolean>;
  end(id: string): Promise<void>;
  /** Forgets sessions that are over, at most `limit` of them. @returns how many. */
  purge(now: number, limit: number): Promise<number>;
}
