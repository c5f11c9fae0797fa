import type { SQLOutputValue } from 'node:sqlite';
import {
  reverted,
  rotated,
  SESSIONS_PER_USER,
  type Session,
  type SessionKey,
  type SessionRepository,
  type UserInSession,
  withProof,
} from 'tandem';
import type { Connection } from './connection.ts';
import { toUser } from './user-repository.ts';

const toSession = ({ proofs, ...row }: Record<string, SQLOutputValue>): Session =>
  ({ ...row, proofs: JSON.parse(String(proofs)) }) as Session;

/** Without the time and the id of the user, which never change. */
const toUpdate = ({ userId: _user, createdAt: _created, ...session }: Session) => ({
  ...session,
  proofs: JSON.stringify(session.proofs),
});

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
      :runStartedAt, :runFirst, :createdAt, :expiresAt, :userAgent, :address, :deviceKey, :browserKey, :proofs)`);
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
  const update = database.prepare(`
    update sessions set currentTokenId = :currentTokenId, previousTokenId = :previousTokenId, rotatedAt = :rotatedAt,
      rotation = :rotation, runStartedAt = :runStartedAt, runFirst = :runFirst, expiresAt = :expiresAt,
      userAgent = :userAgent, address = :address, deviceKey = :deviceKey, browserKey = :browserKey, proofs = :proofs
    where id = :id`);
  const selectUser = database.prepare('select * from users where id = ?');
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

  /** Changes a session by a rule, while no other process writes. @returns whether the rule changed it. */
  const change = ({ id, userId }: SessionKey, rule: (session: Session) => Session | null): boolean => {
    const row = select.get({ id, userId });
    const changed = row === undefined ? null : rule(toSession(row));
    if (changed !== null) update.run(toUpdate(changed));
    return changed !== null;
  };

  return {
    async add(session) {
      const evicted = await write(() => {
        insert.run({ ...session, proofs: JSON.stringify(session.proofs) });
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
      const { sessionId: id, userId } = rotation;
      // SQLite has locked the database for writing when this reads the clock.
      const isInTime = () => Date.now() < deadline;
      const user = await write(() =>
        change({ id, userId }, (session) => (isInTime() ? rotated(session, rotation) : null))
          ? selectUser.get(userId)
          : undefined,
      );
      if (user !== undefined) return toUser(user);
      return isInTime() ? 'stale' : 'too-late';
    },
    async revert(rotation) {
      const { sessionId: id, userId } = rotation;
      await write(() => change({ id, userId }, (session) => reverted(session, rotation)));
    },
    useProof: (key, proof) => write(() => change(key, (session) => withProof(session, proof))),
    bindPage: (key, deviceKey) => write(() => change(key, (session) => ({ ...session, deviceKey, browserKey: null }))),
    bindBrowser: (key, browserKey) =>
      write(() =>
        change(key, (session) => ([null, browserKey].includes(session.browserKey) ? { ...session, browserKey } : null)),
      ),
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
