import type { SqlEntityManager } from '@mikro-orm/sql';
import type { SessionRepository, UserRotation } from '../../application/ports/session-repository.ts';
import { isId } from '../../domain/id.ts';
import type { Rotation } from '../../domain/session.ts';
import type { Tables } from '../mikro-orm/rows.ts';
import { translated, unlessRolledBack } from '../mikro-orm/translate-error.ts';
import { toUser } from '../mikro-orm/user-rows.ts';
import { ROTATION_BUDGET } from './rotation-recovery/budgets.ts';
import { notExecuted } from './rotation-recovery/not-executed.ts';
import { serverClock } from './rotation-recovery/server-clock.ts';
import { toSession } from './sql-rows.ts';
import {
  addCounting,
  clockOf,
  endSurplus,
  liveSessions,
  mayBeTooMany,
  purgeDue,
  revertRotation,
  rotateBefore,
  selectSession,
} from './sql-statements.ts';

/** How many statements one purge sends at most, so that it ends soon however many sessions were refreshed since their last check. */
const PURGE_ROUNDS = 100;

/**
 * Stores sessions in the table `sessions`, by single queries outside MikroORM's unit of work.
 * @param budget milliseconds after the call, within which a rotation happens or never will. ADR 0022.
 */
export const mikroOrmSessionRepository = (
  em: SqlEntityManager,
  { budget = ROTATION_BUDGET.database } = {},
): SessionRepository => {
  const tables = () => em.getKysely<Tables>();
  const readTime = async (): Promise<number> => {
    const { now } = await translated(() =>
      tables()
        .selectNoFrom((eb) => clockOf(eb).as('now'))
        .executeTakeFirstOrThrow(),
    );
    return now * 1000;
  };
  const clock = serverClock(readTime);

  const rotateInTime = async (rotation: Rotation): Promise<UserRotation> => {
    const deadline = (await clock.deadlineIn(budget).catch(notExecuted)) / 1000;
    const result = await unlessRolledBack(() => rotateBefore(tables(), { ...rotation, deadline }));
    if (result === null) return { outcome: 'too-late' };
    const [row] = result.rows;
    if (row !== undefined) return { outcome: 'rotated', user: toUser(row) };
    if ((await readTime().catch(notExecuted)) < deadline * 1000) return { outcome: 'stale' };
    clock.forget();
    return { outcome: 'too-late' };
  };
  const rotateAndReadUser = async (rotation: Rotation): Promise<UserRotation> => {
    try {
      return await rotateInTime(rotation);
    } catch (error) {
      clock.forget();
      throw error;
    }
  };

  return {
    async add(session) {
      const { others } = await translated(() => addCounting(tables(), session).executeTakeFirstOrThrow());
      if (mayBeTooMany(others)) await translated(() => endSurplus(tables(), session).execute());
    },
    async find({ id, userId }) {
      if (!isId(id) || !isId(userId)) return null;
      const [row] = (await translated(() => selectSession(tables(), { id, userId }))).rows;
      return row === undefined ? null : toSession(row);
    },
    rotate: async (rotation) => (await rotateAndReadUser(rotation)).outcome,
    rotateAndReadUser,
    async revert(rotation) {
      await translated(() => revertRotation(tables(), rotation).execute());
    },
    async end({ id, userId }) {
      if (!isId(id) || !isId(userId)) return false;
      const { numDeletedRows } = await translated(() =>
        tables().deleteFrom('sessions').where('id', '=', id).where('user_id', '=', userId).executeTakeFirst(),
      );
      return numDeletedRows > 0n;
    },
    async listByUser(userId, now) {
      const rows = await translated(() => liveSessions(tables(), userId, now).selectAll().execute());
      return rows.map(toSession);
    },
    async endByUser(userId, exceptId) {
      const all = tables().deleteFrom('sessions').where('user_id', '=', userId);
      const ended = exceptId === null ? all : all.where('id', '!=', exceptId);
      await translated(() => ended.execute());
    },
    async purge(now, limit) {
      let purged = 0;
      for (let round = 0; round < PURGE_ROUNDS && purged < limit; round += 1) {
        const limits = { due: limit, expired: limit - purged };
        const counts = await translated(() => purgeDue(tables(), now, limits).executeTakeFirstOrThrow());
        purged += Number(counts.purged);
        if (Number(counts.due) < limit) break;
      }
      return purged;
    },
  };
};
