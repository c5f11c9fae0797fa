import type { SqlEntityManager } from '@mikro-orm/sql';
import type { ExpressionBuilder } from 'kysely';
import type { SessionRepository } from '../../application/ports/session-repository.ts';
import type { Rotation, Session } from '../../domain/session.ts';
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
});

const toRow = (session: Session): SessionRow => ({
  id: session.id,
  user_id: session.userId,
  current_token_id: session.currentTokenId,
  previous_token_id: session.previousTokenId,
  rotated_at: session.rotatedAt,
  created_at: session.createdAt,
  expires_at: session.expiresAt,
});

/** Epoch seconds by the database's clock, read when a row is judged and not when the statement began. */
const clockOf = (eb: ExpressionBuilder<Tables, never>) =>
  eb.fn<number>('date_part', [eb.val('epoch'), eb.fn('clock_timestamp', [])]);

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

  const rotate = async ({ sessionId, from, to, at, expiresAt }: Rotation): Promise<boolean> => {
    const deadline = await time.after(budget);
    const { numUpdatedRows } = await translated(() =>
      tables()
        .updateTable('sessions')
        .set({ current_token_id: to, previous_token_id: from, rotated_at: at, expires_at: expiresAt })
        .where('id', '=', sessionId)
        .where('current_token_id', '=', from)
        .where('expires_at', '>', at)
        .where((eb) => eb(clockOf(eb as never), '<', deadline / 1000))
        .executeTakeFirst(),
    );
    if (numUpdatedRows === 1n) return true;
    if ((await readTime()) >= deadline) throw tooLate();
    return false;
  };

  return {
    async add(session) {
      await translated(() => tables().insertInto('sessions').values(toRow(session)).execute());
    },
    async find(id) {
      const row = await translated(() =>
        tables().selectFrom('sessions').selectAll().where('id', '=', id).executeTakeFirst(),
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
    async revert({ sessionId, from, to }) {
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
          .where('current_token_id', 'in', [from, to])
          .execute(),
      );
    },
    async end(id) {
      await translated(() => tables().deleteFrom('sessions').where('id', '=', id).execute());
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
              .limit(limit)
              .forUpdate()
              .skipLocked(),
          )
          .deleteFrom('sessions')
          .where('id', 'in', (query) => query.selectFrom('over').select('id'))
          .executeTakeFirst(),
      );
      return Number(numDeletedRows);
    },
  };
};
