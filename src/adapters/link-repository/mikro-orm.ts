import type { LinkRepository } from '../../application/ports/link-repository.ts';
import { isId } from '../../domain/id.ts';
import type { Link } from '../../domain/link.ts';
import type { Row, Tables } from '../mikro-orm/rows.ts';
import type { Statements } from '../mikro-orm/transaction.ts';
import { translated } from '../mikro-orm/translate-error.ts';

const toLink = (row: Row<'links'>): Link => ({
  userId: row.user_id,
  purpose: row.purpose,
  tokenHash: row.token_hash,
  email: row.email,
  createdAt: Number(row.created_at),
  expiresAt: Number(row.expires_at),
});

/** Stores links in table `links`. */
export const mikroOrmLinkRepository = (statements: Statements): LinkRepository => {
  const tables = () => statements.getKysely<Tables>();
  return {
    async put({ userId, purpose, tokenHash, email, createdAt, expiresAt }) {
      const values = { token_hash: tokenHash, email, created_at: createdAt, expires_at: expiresAt };
      const replaced = tables()
        .insertInto('links')
        .values({ user_id: userId, purpose, ...values })
        .onConflict((conflict) => conflict.columns(['user_id', 'purpose']).doUpdateSet(values));
      await translated(() => replaced.execute());
    },
    async find(purpose, tokenHash, now) {
      const found = tables()
        .selectFrom('links')
        .selectAll()
        .where('token_hash', '=', tokenHash)
        .where('purpose', '=', purpose)
        .where('expires_at', '>', now);
      const row = await translated(() => found.executeTakeFirst());
      return row === undefined ? null : toLink(row);
    },
    async take(purpose, tokenHash, now) {
      const taken = tables()
        .deleteFrom('links')
        .where('token_hash', '=', tokenHash)
        .where('purpose', '=', purpose)
        .where('expires_at', '>', now)
        .returningAll();
      const row = await translated(() => taken.executeTakeFirst());
      return row === undefined ? null : toLink(row);
    },
    async listByEmail(purpose, email, now) {
      const about = tables()
        .selectFrom('links')
        .selectAll()
        .where('email', '=', email)
        .where('purpose', '=', purpose)
        .where('expires_at', '>', now);
      return (await translated(() => about.execute())).map(toLink);
    },
    async removeOfUser(userId, purposes) {
      if (!isId(userId) || purposes.length === 0) return;
      const removed = tables()
        .deleteFrom('links')
        .where('user_id', '=', userId)
        .where('purpose', 'in', [...purposes]);
      await translated(() => removed.execute());
    },
    async listByUser(userId, now) {
      if (!isId(userId)) return [];
      const live = tables().selectFrom('links').selectAll().where('user_id', '=', userId).where('expires_at', '>', now);
      return (await translated(() => live.orderBy('purpose').execute())).map(toLink);
    },
    async purge(now, limit) {
      const expired = tables()
        .deleteFrom('links')
        .where((eb) => {
          const old = eb
            .selectFrom('links as old')
            .select('old.token_hash')
            .where('old.expires_at', '<=', now)
            .orderBy('old.expires_at')
            .limit(limit)
            .forUpdate()
            .skipLocked();
          return eb('token_hash', '=', eb.fn.any(eb.fn<string[]>('array', [old])));
        });
      return Number((await translated(() => expired.executeTakeFirst())).numDeletedRows);
    },
  };
};
