import type { InferEntity } from '@mikro-orm/core';
import type { SessionRepository } from '../../application/ports/session-repository.ts';
import type { PartWithUser, Rotation, RotationOutcome, Session, SessionKey } from '../../domain/session.ts';
import { isId } from '../../domain/user.ts';
import { readTime } from '../mikro-orm/clock.ts';
import { SessionEntity } from '../mikro-orm/entities.ts';
import { type DatabaseAccess, translated, unlessRolledBack } from '../mikro-orm/queries.ts';
import { type Row, type Tables, toAuthenticated, toUser, toUserInTokens } from '../mikro-orm/rows.ts';
import { notExecuted } from '../resilience/not-executed.ts';
import { serverClock } from '../resilience/server-clock.ts';
import { ROTATION_BUDGET } from './rotation-recovery.ts';
import {
  addCounting,
  endOne,
  evictSessions,
  lockUser,
  mayBeTooMany,
  purgeDue,
  revertRotation,
  rotateBefore,
  selectWithUser,
  toRotationValues,
  useProof,
} from './sql-statements.ts';

/** The most statements of one purge: it has to end soon even if many sessions were refreshed since their last check. */
const PURGE_ROUNDS = 100;

/**
 * Stores sessions in the table `sessions`.
 * @param budget milliseconds after the call, within which a rotation happens or never will. ADR 0022.
 * @param clock that of the database.
 */
export const mikroOrmSessionRepository = (
  db: DatabaseAccess,
  { budget = ROTATION_BUDGET, clock = serverClock(() => readTime(db)) } = {},
): SessionRepository => {
  const tables = () => db.em.getKysely<Tables>();

  const rotateInTime = async (rotation: Rotation): Promise<RotationOutcome> => {
    const before = clock.now();
    const deadline = (await clock.deadlineIn(budget).catch(notExecuted)) / 1000;
    // A reading has shown that the clock was behind, as on a machine that was suspended, and the time of the rotation is of that clock.
    if (clock.now() - before > budget) return 'too-late';
    const result = await unlessRolledBack(() => rotateBefore(tables(), toRotationValues(rotation, deadline)));
    if (result === null) {
      // Another server may respond next, with another clock.
      clock.forget();
      return 'too-late';
    }
    const [row] = result.rows;
    if (row !== undefined) return { user: toUserInTokens(row), ...toPartOfSession(row) };
    if ((await readTime(db).catch(notExecuted)) < deadline * 1000) return 'stale';
    clock.forget();
    return 'too-late';
  };

  return {
    async add(session) {
      const { others } = await translated(() => addCounting(tables(), session).executeTakeFirstOrThrow());
      if (!mayBeTooMany(others)) return [];
      // Concurrent transactions do not see each other's sessions. With a lock, the last one sees them all.
      if (db.em.isInTransaction()) await translated(() => lockUser(tables(), session).execute());
      const evicted = await translated(() => evictSessions(tables(), session).execute());
      return evicted.map(({ id }) => id);
    },
    async find({ id, userId }) {
      if (!isId(id) || !isId(userId)) return null;
      const found = await translated(() => db.em.findOne(SessionEntity, { id, userId }));
      return found && toSession(found);
    },
    async findWithUser({ id, userId }) {
      if (!isId(userId)) return null;
      const key = { id: isId(id) ? id : '', userId };
      const [row] = (await translated(() => selectWithUser(tables(), key))).rows;
      if (row === undefined) return null;
      const { session_expires_at: expiresAt, session_created_at: createdAt, ...rest } = row;
      const hasSession = expiresAt !== null && createdAt !== null;
      const session = hasSession
        ? toPartOfSession({ ...rest, session_expires_at: expiresAt, session_created_at: createdAt })
        : null;
      return { user: toUser(row), session };
    },
    async rotate(rotation) {
      try {
        return await rotateInTime(rotation);
      } catch (error) {
        clock.forget();
        throw error;
      }
    },
    async revert(rotation) {
      await translated(() => revertRotation(tables(), rotation).execute());
    },
    async useProof({ id, userId }, proof) {
      const { numUpdatedRows } = await translated(() => useProof(tables(), { id, userId }, proof).executeTakeFirst());
      return numUpdatedRows > 0n;
    },
    async bindPage({ id, userId }, deviceKey) {
      return (
        (await translated(() => db.em.nativeUpdate(SessionEntity, { id, userId }, { deviceKey, browserKey: null }))) > 0
      );
    },
    async bindBrowser({ id, userId }, browserKey) {
      const isFree = { id, userId, $or: [{ browserKey: null }, { browserKey }] };
      return (await translated(() => db.em.nativeUpdate(SessionEntity, isFree, { browserKey }))) > 0;
    },
    async authenticate({ id, userId }, { authenticatedAt, amr, knownAt, heldAt }) {
      const written = { authenticatedAt, amr: amr.join(' '), knownAt, heldAt };
      return (await translated(() => db.em.nativeUpdate(SessionEntity, { id, userId }, written))) > 0;
    },
    async end({ id, userId }) {
      if (!isId(id) || !isId(userId)) return false;
      const { numDeletedRows } = await translated(() => endOne(tables(), { id, userId }).executeTakeFirst());
      return numDeletedRows > 0n;
    },
    async listByUser(userId, now) {
      const live = { userId, expiresAt: { $gt: now } };
      const orderBy = { rotatedAt: 'desc', id: 'desc' } as const;
      return (await translated(() => db.em.find(SessionEntity, live, { orderBy }))).map(toSession);
    },
    async endByUser(userId, exceptId) {
      const all = tables().deleteFrom('sessions').where('user_id', '=', userId).returning('id');
      const ended = exceptId === null ? all : all.where('id', '!=', exceptId);
      const rows = await translated(() => ended.execute());
      return rows.map(({ id }) => id);
    },
    async purge(now, limit) {
      const purged: SessionKey[] = [];
      for (let round = 0; round < PURGE_ROUNDS && purged.length < limit; round += 1) {
        const limits = { due: limit, expired: limit - purged.length };
        const rows = await translated(() => purgeDue(tables(), now, limits).execute());
        purged.push(
          ...rows.flatMap(({ id, user_id: userId }) => (id === null || userId === null ? [] : [{ id, userId }])),
        );
        if (Number(rows[0]?.due ?? 0) < limit) break;
      }
      return purged;
    },
  };
};

type SessionRow = Pick<Row<'sessions'>, 'authenticated_at' | 'amr' | 'known_at' | 'held_at'> & {
  readonly session_expires_at: number | string;
  readonly session_created_at: number | string;
};

/** The part of a session that is read with its user. */
const toPartOfSession = (row: SessionRow): PartWithUser => ({
  expiresAt: Number(row.session_expires_at),
  ...toAuthenticated(
    { authenticatedAt: row.authenticated_at, amr: row.amr, knownAt: row.known_at, heldAt: row.held_at },
    row.session_created_at,
  ),
});

/** `runStartedAt` is null until an instance of this version rotates the session. */
const toSession = ({
  earlierTokens: _earlier,
  purgeCheckAt: _purge,
  previousTokenId = null,
  runStartedAt,
  userAgent = null,
  address = null,
  deviceKey = null,
  browserKey = null,
  authenticatedAt = null,
  amr = null,
  knownAt = null,
  heldAt = null,
  ...session
}: InferEntity<typeof SessionEntity>): Session => {
  return {
    ...session,
    ...toAuthenticated({ authenticatedAt, amr, knownAt, heldAt }, session.createdAt),
    previousTokenId,
    userAgent,
    address,
    deviceKey,
    browserKey,
    runStartedAt: runStartedAt ?? session.rotatedAt,
  };
};
