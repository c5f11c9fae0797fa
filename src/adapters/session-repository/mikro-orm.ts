import type { SqlEntityManager } from '@mikro-orm/sql';
import type { ExpressionBuilder } from 'kysely';
import type { SessionRepository } from '../../application/ports/session-repository.ts';
import { type Rotation, SESSIONS_PER_USER, type Session } from '../../domain/session.ts';
import { isStorable } from '../mikro-orm/storable.ts';
import type { SessionRow, Tables } from '../mikro-orm/tables.ts';
import { translated } from '../mikro-orm/translate-error.ts';
import { serverTime } from '../server-time.ts';
import { tooLate } from './too-late.ts';

const toSession = (row: SessionRow): Session => ({
  id: row.id,
  userId: row.user_id,
  currentTokenId: row.current_token_id,
  previousTokenId: row.previous_token_id,
  rotatedAt: Number(row.rotated_at),
  createdAt: Number(row.created_at),
  expiresAt: Number(row.expires_at),
  userAgent: row.user_agent,
  address: row.address,
});

const toRow = (session: Session): SessionRow => ({
  id: session.id,
  user_id: session.userId,
  current_token_id: session.currentTokenId,
  previous_token_id: session.previousTokenId,
  rotated_at: session.rotatedAt,
  created_at: session.createdAt,
  expires_at: session.expiresAt,
  user_agent: session.userAgent,
  address: session.address,
});

/** Epoch seconds by the database's clock, read when a row is judged and not when the statement began. */
const clockOf = (eb: ExpressionBuilder<Tables, never>) =>
  eb.fn<number>('date_part', [eb.val('epoch'), eb.fn('clock_timestamp', [])]);

/**
 * Never by the index of `expires_at`: where nearly all sessions are over, that looks best to a planner, until many are live
 * whom it has not counted yet.
 */
const liveAt = (now: number) => (eb: ExpressionBuilder<Tables, 'sessions'>) => eb(eb('expires_at', '+', 0), '>', now);

/** The number of an advisory lock that no other program takes. */
const PURGE_LOCK = 7_263_501_949;

/**
 * In table `sessions`. One thin query per call, outside the unit of work.
 * @param budget milliseconds from its call on within which a rotation happens or never will. ADR 0022.
 */
export const mikroOrmSessionRepository = (em: SqlEntityManager, { budget = 5_000 } = {}): SessionRepository => {
  const tables = () => em.getKysely<Tables>();
  const readTime = async (): Promise<number> => {
    const { now } = await translated(() =>
      tables()
        .selectNoFrom((eb) => clockOf(eb).as('now'))
        .executeTakeFirstOrThrow(),
    );
    return now * 1000;
  };
  const time = serverTime(readTime);

  const rotate = async ({ sessionId, userId, from, to, at, expiresAt }: Rotation): Promise<boolean> => {
    const deadline = await time.after(budget);
    const { numUpdatedRows } = await translated(() =>
      tables()
        .updateTable('sessions')
        .set({ current_token_id: to, previous_token_id: from, rotated_at: at, expires_at: expiresAt })
        .where('id', '=', sessionId)
        .where('user_id', '=', userId)
        .where('current_token_id', '=', from)
        .where(liveAt(at))
        .where((eb) => eb(clockOf(eb as never), '<', deadline / 1000))
        .executeTakeFirst(),
    );
    if (numUpdatedRows === 1n) return true;
    if ((await readTime()) >= deadline) throw tooLate();
    return false;
  };

  const liveOf = (userId: string, now: number) =>
    tables()
      .selectFrom('sessions')
      .where('user_id', '=', userId)
      .where(liveAt(now))
      .orderBy('rotated_at', 'desc')
      .orderBy('id', 'desc');

  /**
   * After the insert and not with it: the last of several that add at once sees what all of them have added. Rows that
   * somebody writes are being ended already, or used.
   */
  const endSurplus = ({ userId, createdAt }: Session) =>
    tables()
      .with('surplus', (db) =>
        db
          .selectFrom('sessions')
          .select('id')
          .where('id', 'in', liveOf(userId, createdAt).select('id').offset(SESSIONS_PER_USER))
          .forUpdate()
          .skipLocked(),
      )
      .deleteFrom('sessions')
      .where('id', 'in', (query) => query.selectFrom('surplus').select('id'))
      .execute();

  return {
    async add(session) {
      await translated(async () => {
        await tables().insertInto('sessions').values(toRow(session)).execute();
        await endSurplus(session);
      });
    },
    async find({ id, userId }) {
      const row = await translated(() =>
        tables()
          .selectFrom('sessions')
          .selectAll()
          .where('id', '=', id)
          .where('user_id', '=', userId)
          .executeTakeFirst(),
      );
      return row === undefined ? null : toSession(row);
    },
    async rotate(rotation) {
      try {
        return await rotate(rotation);
      } catch (error) {
        time.forget();
        throw error;
      }
    },
    /** Matches the row before the rotation too: so it waits for one that is under way, and none can slip in behind it. */
    async revert({ sessionId, userId, from, to }) {
      await translated(() =>
        tables()
          .updateTable('sessions')
          .set((eb) => ({
            current_token_id: from,
            previous_token_id: eb
              .case()
              .when('current_token_id', '=', to)
              .then(null)
              .else(eb.ref('previous_token_id'))
              .end(),
          }))
          .where('id', '=', sessionId)
          .where('user_id', '=', userId)
          .where('current_token_id', 'in', [from, to])
          .execute(),
      );
    },
    async end({ id, userId }) {
      if (!isStorable(id)) return false;
      const { numDeletedRows } = await translated(() =>
        tables().deleteFrom('sessions').where('id', '=', id).where('user_id', '=', userId).executeTakeFirst(),
      );
      return numDeletedRows > 0n;
    },
    async listByUser(userId, now) {
      const rows = await translated(() => liveOf(userId, now).selectAll().execute());
      return rows.map(toSession);
    },
    async endByUser(userId, exceptId) {
      const all = tables().deleteFrom('sessions').where('user_id', '=', userId);
      const ended = exceptId === null ? all : all.where('id', '!=', exceptId);
      await translated(() => ended.execute());
    },
    /** By one instance at a time: another finds the lock taken, and purges nothing. Rows that are being rotated are passed over. */
    async purge(now, limit) {
      const { numDeletedRows } = await translated(() =>
        tables()
          .with('turn', (db) =>
            db.selectNoFrom((eb) => eb.fn<boolean>('pg_try_advisory_xact_lock', [eb.val(PURGE_LOCK)]).as('mine')),
          )
          .with('over', (db) =>
            db
              .selectFrom('sessions')
              .select('id')
              .where('expires_at', '<=', now)
              .where((eb) => eb.selectFrom('turn').select('mine'))
              .orderBy('expires_at')
              .limit(limit)
              .forUpdate()
              .skipLocked(),
          )
          .deleteFrom('sessions')
          // As an array, which is looked up by the primary key; a join may read the table through.
          .where((eb) => eb('id', '=', eb.fn.any(eb.fn<string[]>('array', [eb.selectFrom('over').select('id')]))))
          .executeTakeFirst(),
      );
      return Number(numDeletedRows);
    },
  };
};
