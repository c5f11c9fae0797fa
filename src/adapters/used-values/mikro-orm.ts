import type { UsedValues } from '../../application/ports/used-values.ts';
import { type DatabaseAccess, translated } from '../mikro-orm/queries.ts';
import { purgeRows, type Tables } from '../mikro-orm/rows.ts';

export const mikroOrmUsedValues = (db: DatabaseAccess): UsedValues => ({
  /** One statement. It waits for another unit of work that uses the value, and is the first if that one is undone. */
  async use(id, expiresAt) {
    const insert = db.em
      .getKysely<Tables>()
      .insertInto('used_values')
      .values({ id, expires_at: expiresAt })
      .onConflict((conflict) => conflict.doNothing());
    return (await translated(() => insert.executeTakeFirst())).numInsertedOrUpdatedRows === 1n;
  },
  purge: (now, limit) => purgeRows(db, { table: 'used_values', key: 'id', time: 'expires_at', until: now, limit }),
});
