import type { InferEntity } from '@mikro-orm/core';
import { sql } from 'kysely';
import type { FactorRepository } from '../../application/ports/factor-repository.ts';
import type { Factor } from '../../domain/factor.ts';
import { isId } from '../../domain/user.ts';
import { FactorEntity, RecoveryCodeEntity } from '../mikro-orm/entities.ts';
import { type DatabaseAccess, translated } from '../mikro-orm/queries.ts';
import type { Tables } from '../mikro-orm/rows.ts';

const toFactor = ({ confirmedAt = null, ...factor }: InferEntity<typeof FactorEntity>): Factor => ({
  ...factor,
  confirmedAt,
});

export const mikroOrmFactorRepository = (db: DatabaseAccess): FactorRepository => ({
  async add(factor) {
    await translated(() => db.em.insert(FactorEntity, factor));
  },
  async listByUser(userId) {
    if (!isId(userId)) return [];
    const factors = await translated(() => db.em.find(FactorEntity, { userId }, { orderBy: { id: 'asc' } }));
    return factors.map(toFactor);
  },
  /** One statement: one of several concurrent callers uses the step. */
  async useStep({ id, userId }, step, now) {
    if (!isId(id) || !isId(userId)) return false;
    const confirmedAt = sql<number>`coalesce(${sql.ref('confirmed_at')}, ${now}::bigint)`;
    const use = db.em
      .getKysely<Tables>()
      .updateTable('factors')
      .set({ last_step: step, confirmed_at: confirmedAt })
      .where('id', '=', id)
      .where('user_id', '=', userId)
      .where('last_step', '<', step);
    return (await translated(() => use.executeTakeFirst())).numUpdatedRows > 0n;
  },
  async remove({ id, userId }) {
    if (!isId(id) || !isId(userId)) return false;
    return (await translated(() => db.em.nativeDelete(FactorEntity, { id, userId }))) > 0;
  },
  async replaceCodes(userId, hashes) {
    await translated(() => db.em.nativeDelete(RecoveryCodeEntity, { userId }));
    if (hashes.length === 0) return;
    const codes = hashes.map((hash) => ({ userId, hash }));
    await translated(() => db.em.insertMany(RecoveryCodeEntity, codes));
  },
  async useCode(userId, hash) {
    if (!isId(userId)) return false;
    return (await translated(() => db.em.nativeDelete(RecoveryCodeEntity, { userId, hash }))) > 0;
  },
  async countCodes(userId) {
    if (!isId(userId)) return 0;
    return translated(() => db.em.count(RecoveryCodeEntity, { userId }));
  },
  async changeSecret({ id, userId }, { from, to }) {
    const given = { id, userId, secret: from };
    return (await translated(() => db.em.nativeUpdate(FactorEntity, given, { secret: to }))) > 0;
  },
  async listAll(after, limit) {
    const page = { orderBy: { id: 'asc' }, limit } as const;
    return (await translated(() => db.em.find(FactorEntity, { id: { $gt: after } }, page))).map(toFactor);
  },
});
