import type { SessionRepository } from '../../application/ports/session-repository.ts';
import { isId } from '../../domain/id.ts';
import type { Rotation, RotationOutcome, SessionKey } from '../../domain/session.ts';
import type { Tables } from '../mikro-orm/rows.ts';
import type { Statements } from '../mikro-orm/transaction.ts';
import { translated, unlessRolledBack } from '../mikro-orm/translate-error.ts';
import { toTime, toUser } from '../mikro-orm/user-rows.ts';
import { ROTATION_BUDGET, serverClock } from './rotation-recovery/deadlines.ts';
import { notExecuted } from './rotation-recovery/not-executed.ts';
import { toSession } from './sql-rows.ts';
import {
  addCounting,
  clockOf,
  endOne,
  endSurplus,
  liveSessions,
  lockUser,
  mayBeTooMany,
  purgeDue,
  revertRotation,
  rotateBefore,
  selectSession,
  selectWithUser,
} from './sql-statements.ts';

/** How many statements one purge sends at most, so that it ends soon however many sessions were refreshed since their last check. */
const PURGE_ROUNDS = 100;

/**
 * Stores sessions in the table `sessions`, by single queries outside MikroORM's unit of work.
 * @param budget milliseconds after the call, within which a rotation happens or never will. ADR 0022.
 */
export const mikroOrmSessionRepository = (
  statements: Statements,
  { budget = ROTATION_BUDGET } = {},
): SessionRepository => {
  const tables = () => statements.getKysely<Tables>();
  const readTime = async (): Promise<number> => {
    const { now } = await translated(() =>
      tables()
        .selectNoFrom((eb) => clockOf(eb).as('now'))
        .executeTakeFirstOrThrow(),
    );
    return now * 1000;
  };
  const clock = serverClock(readTime);

  const rotateInTime = async (rotation: Rotation): Promise<RotationOutcome> => {
    const deadline = (await clock.deadlineIn(budget).catch(notExecuted)) / 1000;
    const result = await unlessRolledBack(() => rotateBefore(tables(), { ...rotation, deadline }));
    if (result === null) return 'too-late';
    const [row] = result.rows;
    if (row !== undefined) return toUser(row);
    if ((await readTime().catch(notExecuted)) < deadline * 1000) return 'stale';
    clock.forget();
    return 'too-late';
  };

  return {
    async add(session) {
      const { others } = await translated(() => addCounting(tables(), session).executeTakeFirstOrThrow());
      if (!mayBeTooMany(others)) return [];
      // Concurrent transactions do not see each other's sessions: the last one to get the lock sees them all.
      if (tables().isTransaction) await translated(() => lockUser(tables(), session).execute());
      const surplus = await translated(() => endSurplus(tables(), session).execute());
      return surplus.map(({ id }) => id);
    },
    async find({ id, userId }) {
      if (!isId(id) || !isId(userId)) return null;
      const [row] = (await translated(() => selectSession(tables(), { id, userId }))).rows;
      return row === undefined ? null : toSession(row);
    },
    async findWithUser({ id, userId }) {
      if (!isId(userId)) return null;
      const key = { id: isId(id) ? id : '', userId };
      const [row] = (await translated(() => selectWithUser(tables(), key))).rows;
      return row === undefined ? null : { user: toUser(row), expiresAt: toTime(row.session_expires_at) };
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
    async end({ id, userId }) {
      if (!isId(id) || !isId(userId)) return false;
      const { numDeletedRows } = await translated(() => endOne(tables(), { id, userId }).executeTakeFirst());
      return numDeletedRows > 0n;
    },
    async listByUser(userId, now) {
      const rows = await translated(() => liveSessions(tables(), userId, now).selectAll().execute());
      return rows.map(toSession);
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
