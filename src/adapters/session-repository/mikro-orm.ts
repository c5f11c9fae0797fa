import type { SqlEntityManager } from '@mikro-orm/sql';
import type { SessionRepository } from '../../application/ports/session-repository.ts';
import type { Session } from '../../domain/session.ts';
import type { SessionRow, Tables } from '../mikro-orm/tables.ts';
import { translated } from '../mikro-orm/translate-error.ts';

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

/** In table `sessions`. One thin query per call, outside the unit of work. */
export const mikroOrmSessionRepository = (em: SqlEntityManager): SessionRepository => {
  const tables = () => em.getKysely<Tables>();

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
    async rotate({ sessionId, from, to, at, expiresAt }) {
      const result = await translated(() =>
        tables()
          .updateTable('sessions')
          .set({ current_token_id: to, previous_token_id: from, rotated_at: at, expires_at: expiresAt })
          .where('id', '=', sessionId)
          .where('current_token_id', '=', from)
          .where('expires_at', '>', at)
          .executeTakeFirst(),
      );
      return result.numUpdatedRows === 1n;
    },
    async end(id) {
      await translated(() => tables().deleteFrom('sessions').where('id', '=', id).execute());
    },
    /** Passes over rows that another instance purges or rotates at this moment. */
    async purge(now, limit) {
      const result = await translated(() =>
        tables()
          .with('over', (db) =>
            db.selectFrom('sessions').select('id').where('expires_at', '<=', now).limit(limit).forUpdate().skipLocked(),
          )
          .deleteFrom('sessions')
          .where('id', 'in', (query) => query.selectFrom('over').select('id'))
          .executeTakeFirst(),
      );
      return Number(result.numDeletedRows);
    },
  };
};
