import type { Authenticated } from '../../domain/assurance.ts';
import type { Device, DeviceProof } from '../../domain/device.ts';
import type { StoredEvent } from '../../domain/event.ts';
import type { PartWithUser, Rotation, RotationOutcome, Session, SessionKey } from '../../domain/session.ts';
import type { User } from '../../domain/user.ts';

export type UserInSession = {
  readonly user: User;
  readonly session: PartWithUser | null;
  /** The number of the user's passkeys, if the store reads it in the same statement. */
  readonly passkeys?: number;
};

/** A log-in that only adds a session and an event, provided that nothing that decides about log-ins has changed since `user` was read. */
export type PlainLogin = {
  readonly user: User;
  readonly session: Session;
  readonly event: StoredEvent;
  /** The log-in needs a notice if its device is unknown, or if at least `refused` log-ins were refused since `since`. `null`: these notices are off. */
  readonly notice: { readonly since: number; readonly refused: number } | null;
};

/**
 * Stores sessions. What holds for concurrent calls also holds for calls of several instances over one store.
 * - finds a session by its id and its user
 * - does not find an unknown session, or one of another user
 * - finds a user with a session, and without one when the user has no such session
 * - finds no user who is not stored
 * - rotates a session by its current token
 * - rotates a session of which it has lost rotations, and reverts such a rotation to the rotated token
 * - returns the session that it rotates, with its user
 * - ends a session at its greatest age, however often it is rotated
 * - remembers how and when its user has authenticated, also after a rotation
 * - numbers the current token one higher than the last, also after a rotation that was reverted
 * - remembers when the burst of rotations began, and with which number
 * - changes nothing when another token is current, or has another number
 * - remembers the device that rotated a session last, or used it since
 * - finds the keys of a session and its used proofs
 * - rotates a session with a key of its device only with an unused proof of it, unless none is required
 * - rotates a session with a key of its browser by that key, or by a proof of the key of its page
 * - remembers the greatest numbers of used proofs, also after a revert, and counts numbers below all of these as used
 * - accepts exactly one of many concurrent uses of one proof
 * - uses a proof only for a session that has its key
 * - replaces the keys of a session by that of a page, and forgets no used proof
 * - keeps the first key of a browser
 * - accepts exactly one of many concurrent first keys of a browser
 * - does not bring back a session that ends while a proof is used or a key is bound
 * - does not rotate a session that has expired or was ended
 * - accepts exactly one of many concurrent rotations of the same token
 * - accepts exactly one of two rotations of the same token by two instances
 * - accepts exactly one of two rotations that wait for the store
 * - reverts a rotation, so that the rotated token is current again
 * - changes the current token alone when a rotation is reverted
 * - never performs a rotation that was reverted before it happened
 * - begins the burst again when its first rotation was reverted
 * - does not revert a rotation that was followed by another
 * - either reverts a rotation or accepts the next one, when both are asked for at the same time
 * - reverts nothing in a session that was ended, or whose token is another
 * - lists the sessions of all users in the order of their ids, after one of them
 * - ends a session, and returns false when there is none
 * - does not end a session of another user
 * - ends all sessions of one user, and returns their ids
 * - ends all sessions of one user except one
 * - says of each session once that it ended, however many end it at the same time
 * - does not bring back a session that ends while it is rotated or reverted
 * - lists the live sessions of one user, the most recently used first
 * - treats a session as expired at its expiry, and as live a millisecond before
 * - keeps the 50 most recently used live sessions of a user
 * - keeps the newest 50 of sessions that were used at the same time
 * - keeps exactly these 50 after many concurrent adds
 * - does not count expired sessions towards the 50
 * - evicts all sessions beyond the limit with the next add, however they arose, and returns their ids
 * - purges expired sessions, and only those, and returns their keys
 * - purges those first that expired first
 * - purges a session that was rotated by its new expiry, and in that order
 * - purges each session once when two instances purge
 * - rejects with DB_QUERY_FAILED alone when its store fails, and quotes nothing that is stored
 *
 * A call that rejected with DB_QUERY_FAILED may have changed the store, or not.
 *
 * @example
 * const outcome = await sessions.rotate(rotation);
 * if (outcome === 'stale') throw new AppError('AUTH_FAILED'); // nothing was changed: see `RotationOutcome`
 * const { user, expiresAt } = outcome;
 */
export interface SessionRepository {
  /**
   * Adds a session, and evicts the least recently used ones beyond `SESSIONS_PER_USER`. Some may be left until the next add, for instance after a crash.
   * @returns the ids of the evicted sessions.
   * @throws AppError DB_UNIQUE_VIOLATION when the id is taken; DB_QUERY_FAILED when the user is not stored.
   */
  add(session: Session): Promise<readonly string[]>;
  /**
   * Adds the session and the event of a log-in in one step, if the store can.
   * @returns `false` if nothing was added, and the caller has to use a transaction: for instance, for a user who has changed, a webhook or a notice.
   */
  addLogin?(login: PlainLogin): Promise<boolean>;
  find(key: SessionKey): Promise<Session | null>;
  /** Finds a user and one of their sessions. @returns `null` for an unknown user. */
  findWithUser(key: SessionKey): Promise<UserInSession | null>;
  /**
   * Compares and swaps the current token in one atomic step, and reads the user.
   * @throws AppError DB_QUERY_FAILED. Then the rotation may have happened, and `revert` undoes it.
   */
  rotate(rotation: Rotation): Promise<RotationOutcome>;
  /**
   * Undoes a rotation whose new token no client has: `from` is current again. If the rotation has not happened yet, it is prevented: the session gets the
   * next number, which the rotation does not expect. Idempotent. ADR 0003.
   */
  revert(rotation: Rotation): Promise<void>;
  /** Uses a proof without a rotation, in one atomic step. @returns `false` when it may have been used, or no such session has its key. */
  useProof(key: SessionKey, proof: DeviceProof): Promise<boolean>;
  /** Replaces all keys of a session by the key of a page or an app. Used proofs stay used. @returns whether there was such a session. */
  bindPage(key: SessionKey, deviceKey: string): Promise<boolean>;
  /** Gives a session the key of its browser. @returns `false` when it has another one, or there is no such session. */
  bindBrowser(key: SessionKey, browserKey: string): Promise<boolean>;
  /** Changes the authentication or the device of a session. @returns whether there was such a session. */
  update(key: SessionKey, change: Partial<Authenticated & Device>): Promise<boolean>;
  /** @returns whether there was such a session. */
  end(key: SessionKey): Promise<boolean>;
  listByUser(userId: string, now: number): Promise<Session[]>;
  /** Lists sessions in the order of their ids. @param after the id of the last session of the page before; `null` for the first page. */
  listAll(after: string | null, limit: number): Promise<Session[]>;
  /** Ends sessions of a user. @param isMeant selects the sessions. Default: all. @returns the ids of the sessions that were ended. */
  endByUser(userId: string, isMeant?: (session: Session) => boolean): Promise<readonly string[]>;
  /** Deletes expired sessions, at most `limit`, those that expired earliest first. @returns their keys. */
  purge(now: number, limit: number): Promise<readonly SessionKey[]>;
}
