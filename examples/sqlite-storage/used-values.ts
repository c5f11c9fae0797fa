import type { UsedValues } from 'tandem';
import type { Connection } from './connection.ts';

/** Values that may be used once, in the table `usedValues`. */
export const sqliteUsedValues = ({ database, write }: Connection): UsedValues => {
  const insert = database.prepare('insert or ignore into usedValues values (:id, :expiresAt)');
  const deleteExpired = database.prepare(`
    delete from usedValues where rowid in (
      select rowid from usedValues where expiresAt <= :now order by expiresAt limit :limit)`);
  return {
    use: async (id, expiresAt) => (await write(() => insert.run({ id, expiresAt }))).changes > 0,
    purge: async (now, limit) => Number((await write(() => deleteExpired.run({ now, limit }))).changes),
  };
};
