import { sql } from 'kysely';
import type { FactorRepository } from '../../application/ports/factor-repository.ts';
import type { Factor } from '../../domain/factor.ts';
import { isId } from '../../domain/user.ts';
import { type DatabaseAccess, translated } from '../mikro-orm/queries.ts';
import { type NewRow, type Row, type Tables, toTime } from '../mikro-orm/rows.ts';

const toFactor = (row: Row<'factors'>): Factor => ({
  id: row.id,
  userId: row.user_id,
  secret: row.secret,
  lastStep: Number(row.last_step),
  createdAt: Number(row.created_at),
  confirmedAt: toTime(row.confirmed_at),
});

export const mikroOrmFactorRepository = (db: DatabaseAccess): FactorRepository => {
  const tables = () => db.em.getKysely<Tables>();
  return {
    /** Not by the EntityManager, which would write the secret into the text of the statement. */
    async add({ id, userId, secret, lastStep, createdAt, confirmedAt }) {
      const times = { created_at: createdAt, confirmed_at: confirmedAt };
      const row: NewRow<'factors'> = { id, user_id: userId, secret, last_step: lastStep, ...times };
      await translated(() => tables().insertInto('factors').values(row).execute());
    },
    async listByUser(userId) {
      if (!isId(userId)) return [];
      const query = tables().selectFrom('factors').selectAll().where('user_id', '=', userId).orderBy('id');
      return (await translated(() => query.execute())).map(toFactor);
    },
    /** One statement: one of several concurrent callers uses the step. */
    async useStep({ id, userId }, step, now) {
      if (!isId(id) || !isId(userId)) return false;
      const confirmedAt = sql<number>`coalesce(${sql.ref('confirmed_at')}, ${now}::bigint)`;
      const use = tables()
        .updateTable('factors')
        .set({ last_step: step, confirmed_at: confirmedAt })
        .where('id', '=', id)
        .where('user_id', '=', userId)
        .where('last_step', '<', step);
      return (await translated(() => use.executeTakeFirst())).numUpdatedRows > 0n;
    },
    async remove({ id, userId }) {
      if (!isId(id) || !isId(userId)) return false;
      const removal = tables().deleteFrom('factors').where('id', '=', id).where('user_id', '=', userId);
      return (await translated(() => removal.executeTakeFirst())).numDeletedRows > 0n;
    },
    async replaceCodes(userId, hashes) {
      const removal = tables().deleteFrom('recovery_codes').where('user_id', '=', userId);
      await translated(() => removal.execute());
      if (hashes.length === 0) return;
      const rows = hashes.map((hash) => ({ user_id: userId, hash }));
      await translated(() => tables().insertInto('recovery_codes').values(rows).execute());
    },
    async useCode(userId, hash) {
      if (!isId(userId)) return false;
      const use = tables().deleteFrom('recovery_codes').where('user_id', '=', userId).where('hash', '=', hash);
      return (await translated(() => use.executeTakeFirst())).numDeletedRows > 0n;
    },
    async countCodes(userId) {
      if (!isId(userId)) return 0;
      const count = tables()
        .selectFrom('recovery_codes')
        .select(({ fn }) => fn.countAll().as('count'))
        .where('user_id', '=', userId);
      return Number((await translated(() => count.executeTakeFirst()))?.count);
    },
    async changeSecret({ id, userId }, { from, to }) {
      const change = tables()
        .updateTable('factors')
        .set({ secret: to })
        .where('id', '=', id)
        .where('user_id', '=', userId)
        .where('secret', '=', from);
      return (await translated(() => change.executeTakeFirst())).numUpdatedRows > 0n;
    },
    async listAll(after, limit) {
      const query = tables().selectFrom('factors').selectAll().where('id', '>', after).orderBy('id').limit(limit);
      return (await translated(() => query.execute())).map(toFactor);
    },
  };
};
