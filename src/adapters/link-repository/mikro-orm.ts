import type { LinkRepository } from '../../application/ports/link-repository.ts';
import { isId } from '../../domain/user.ts';
import { LinkEntity } from '../mikro-orm/entities.ts';
import { type DatabaseAccess, translated } from '../mikro-orm/queries.ts';
import { purgeRows, type Tables } from '../mikro-orm/rows.ts';

export const mikroOrmLinkRepository = (db: DatabaseAccess): LinkRepository => ({
  async put(link) {
    await translated(() => db.em.upsert(LinkEntity, link));
  },
  async find(purpose, tokenHash, now) {
    const link = await translated(() => db.em.findOne(LinkEntity, { tokenHash, purpose, expiresAt: { $gt: now } }));
    return link && { ...link };
  },
  /** One statement: one of several concurrent callers gets the link. */
  async take(purpose, tokenHash, now) {
    const taken = db.em
      .getKysely<Tables>()
      .deleteFrom('links')
      .where('token_hash', '=', tokenHash)
      .where('purpose', '=', purpose)
      .where('expires_at', '>', now)
      .returningAll();
    const row = await translated(() => taken.executeTakeFirst());
    return row === undefined ? null : { ...db.em.map(LinkEntity, { ...row, since: Number(row.since) }) };
  },
  async listByEmail(purpose, email, now) {
    const links = await translated(() => db.em.find(LinkEntity, { email, purpose, expiresAt: { $gt: now } }));
    return links.map((link) => ({ ...link }));
  },
  async removeOfUser(userId, purposes) {
    if (!isId(userId) || purposes.length === 0) return;
    await translated(() => db.em.nativeDelete(LinkEntity, { userId, purpose: { $in: [...purposes] } }));
  },
  async listByUser(userId, now) {
    if (!isId(userId)) return [];
    const live = { userId, expiresAt: { $gt: now } };
    const links = await translated(() => db.em.find(LinkEntity, live, { orderBy: { purpose: 'asc' } }));
    return links.map((link) => ({ ...link }));
  },
  purge: (now, limit) => purgeRows(db, { table: 'links', key: 'token_hash', time: 'expires_at', until: now, limit }),
});
