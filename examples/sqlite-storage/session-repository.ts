import type { SQLOutputValue } from 'node:sqlite';
import { SESSIONS_PER_USER, type Session, type SessionRepository, type UserInSession } from 'tandem';
import type { Connection } from './connection.ts';
import { toUser } from './user-repository.ts';

const toSession = (row: Record<string, SQLOutputValue>): Session => ({ ...row }) as Session;

/**
 * Sessions in the table `sessions`.
 * @param budget milliseconds after the call, within which a rotation happens or never will.
 */
export const sqliteSessionRepository = (
  { database, read, write }: Connection,
  { budget = 5_000 } = {},
): SessionRepository => {
  const insert = database.prepare(`
    insert into sessions values (:id, :userId, :currentTokenId, :previousTokenId, :rotatedAt, :rotation,
      :runStartedAt, :runFirst, :createdAt, :expiresAt, :userAgent, :address)`);
  const select = database.prepare('select * from sessions where id = :id and userId = :userId');
  const selectWithUser = database.prepare(`
    select *, (select expiresAt from sessions where id = :id and userId = :userId) as sessionExpiresAt
    from users where id = :userId`);
  const selectLive = database.prepare(`
    select * from sessions where userId = :userId and expiresAt > :now order by rotatedAt desc, id desc`);
  const deleteSurplus = database.prepare(`
    delete from sessions where id in (
      select id from sessions where userId = :userId and expiresAt > :now
      order by rotatedAt desc, id desc limit -1 offset ${SESSIONS_PER_USER})
    returning id`);
  // Compares and swaps in one statement. SQLite reads the clock when it holds the lock for writing.
  const swapToken = database.prepare(`
    update sessions set
      currentTokenId = :to,
      previousTokenId = :from,
      rotatedAt = :at,
      rotation = max(:number, :expectedNumber) + 1,
      runStartedAt = iif(:continuesRun and runFirst <> :number, runStartedAt, :at),
      runFirst = iif(:continuesRun, runFirst, :number),
      expiresAt = :expiresAt
    where id = :sessionId and userId = :userId and currentTokenId = :expected and rotation = :expectedNumber
      and expiresAt > :at and unixepoch('subsec') * 1000 < :deadline`);
  const selectUser = database.prepare('select * from users where id = ?');
  // Undoes the rotation, or prevents it: with another number it is refused.
  const swapBack = database.prepare(`
    update sessions set currentTokenId = :from, previousTokenId = :from, rotation = max(:number, :expectedNumber) + 1
    where id = :sessionId and userId = :userId
      and (currentTokenId = :to or currentTokenId = :expected and rotation = :expectedNumber)`);
  const deleteOne = database.prepare('delete from sessions where id = :id and userId = :userId');
  const deleteOthers = database.prepare(
    'delete from sessions where userId = :userId and id is not :exceptId returning id',
  );
  // A session has to be expired by SQLite's clock, too: a caller whose clock is ahead must not delete live ones.
  const deleteExpired = database.prepare(`
    delete from sessions where id in (
      select id from sessions where expiresAt <= min(:now, cast(unixepoch('subsec') * 1000 as integer))
      order by expiresAt limit :limit)
    returning id, userId`);

  return {
    async add(session) {
      const evicted = await write(() => {
        insert.run(session);
        return deleteSurplus.all({ userId: session.userId, now: session.createdAt });
      });
      return evicted.map(({ id }) => String(id));
    },
    async find({ id, userId }) {
      const row = await read(() => select.get({ id, userId }));
      return row === undefined ? null : toSession(row);
    },
    async findWithUser({ id, userId }) {
      const row = await read(() => selectWithUser.get({ id, userId }));
      if (row === undefined) return null;
      const { sessionExpiresAt: expiresAt, ...user } = row;
      return { user, expiresAt } as UserInSession;
    },
    async rotate(rotation) {
      const deadline = Date.now() + budget;
      const step = { ...rotation, continuesRun: Number(rotation.continuesRun), deadline };
      const user = await write(() => (swapToken.run(step).changes > 0 ? selectUser.get(rotation.userId) : undefined));
      if (user !== undefined) return toUser(user);
      return Date.now() < deadline ? 'stale' : 'too-late';
    },
    async revert({ at: _at, expiresAt: _expiresAt, continuesRun: _continuesRun, ...rotation }) {
      await write(() => swapBack.run(rotation));
    },
    async end({ id, userId }) {
      const { changes } = await write(() => deleteOne.run({ id, userId }));
      return changes > 0;
    },
    async listByUser(userId, now) {
      const rows = await read(() => selectLive.all({ userId, now }));
      return rows.map(toSession);
    },
    async endByUser(userId, exceptId) {
      const ended = await write(() => deleteOthers.all({ userId, exceptId }));
      return ended.map(({ id }) => String(id));
    },
    async purge(now, limit) {
      const purged = await write(() => deleteExpired.all({ now, limit }));
      return purged.map(({ id, userId }) => ({ id: String(id), userId: String(userId) }));
    },
  };
};
