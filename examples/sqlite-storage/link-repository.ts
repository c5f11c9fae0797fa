import type { SQLOutputValue } from 'node:sqlite';
import type { Link, LinkRepository } from 'tandem';
import type { Connection } from './connection.ts';

const toLink = (row: Record<string, SQLOutputValue>): Link => ({ ...row }) as Link;

/** Links in the table `links`. */
export const sqliteLinkRepository = ({ database, read, write }: Connection): LinkRepository => {
  const replace = database.prepare(
    'insert or replace into links values (:userId, :purpose, :tokenHash, :email, :since, :createdAt, :expiresAt)',
  );
  const LIVE = 'purpose = :purpose and expiresAt > :now';
  const select = database.prepare(`select * from links where tokenHash = :tokenHash and ${LIVE}`);
  const take = database.prepare(`delete from links where tokenHash = :tokenHash and ${LIVE} returning *`);
  const selectByEmail = database.prepare(`select * from links where email = :email and ${LIVE}`);
  const selectByUser = database.prepare('select * from links where userId = :userId and expiresAt > :now');
  const deletePurpose = database.prepare('delete from links where userId = :userId and purpose = :purpose');
  const deleteExpired = database.prepare(`
    delete from links where rowid in (
      select rowid from links where expiresAt <= :now order by expiresAt limit :limit)`);

  return {
    async put(link) {
      await write(() => replace.run(link));
    },
    async find(purpose, tokenHash, now) {
      const row = await read(() => select.get({ purpose, tokenHash, now }));
      return row === undefined ? null : toLink(row);
    },
    async take(purpose, tokenHash, now) {
      const row = await write(() => take.get({ purpose, tokenHash, now }));
      return row === undefined ? null : toLink(row);
    },
    listByEmail: async (purpose, email, now) =>
      (await read(() => selectByEmail.all({ purpose, email, now }))).map(toLink),
    removeOfUser: (userId, purposes) =>
      write(() => {
        for (const purpose of purposes) deletePurpose.run({ userId, purpose });
      }),
    listByUser: async (userId, now) => (await read(() => selectByUser.all({ userId, now }))).map(toLink),
    purge: async (now, limit) => Number((await write(() => deleteExpired.run({ now, limit }))).changes),
  };
};
