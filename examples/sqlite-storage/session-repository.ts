import type { SQLOutputValue } from 'node:sqlite';
import {
  partWithUser,
  reverted,
  rotated,
  SESSIONS_PER_USER,
  type Session,
  type SessionKey,
  type SessionRepository,
  withProof,
} from 'tandem';
import type { Connection } from './connection.ts';
import { toUser } from './user-repository.ts';

const toSession = ({ proofs, amr, ...row }: Record<string, SQLOutputValue>): Session =>
  ({ ...row, proofs: JSON.parse(String(proofs)), amr: JSON.parse(String(amr)) }) as Session;

const toRow = (session: Session) => ({
  ...session,
  proofs: JSON.stringify(session.proofs),
  amr: JSON.stringify(session.amr),
});

/** Without the time and the id of the user, which never change. */
const toUpdate = (session: Session) => {
  const { userId: _user, createdAt: _created, ...row } = toRow(session);
  return row;
};

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
      :runStartedAt, :runFirst, :createdAt, :expiresAt, :userAgent, :address, :deviceKey, :browserKey, :proofs, :authenticatedAt,
      :amr, :knownAt, :heldAt)`);
  const select = database.prepare('select * from sessions where id = :id and userId = :userId');
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
      userAgent = :userAgent, address = :address, deviceKey = :deviceKey, browserKey = :browserKey, proofs = :proofs,
      authenticatedAt = :authenticatedAt, amr = :amr, knownAt = :knownAt, heldAt = :heldAt
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

  /** Changes a session by a rule, while no other process writes. @returns `null` if the rule did not change it. */
  const change = ({ id, userId }: SessionKey, rule: (session: Session) => Session | null): Session | null => {
    const row = select.get({ id, userId });
    const changed = row === undefined ? null : rule(toSession(row));
    if (changed !== null) update.run(toUpdate(changed));
    return changed;
  };
  const isChanged = async (key: SessionKey, rule: (session: Session) => Session | null): Promise<boolean> =>
    (await write(() => change(key, rule))) !== null;

  return {
    async add(session) {
      const evicted = await write(() => {
        insert.run(toRow(session));
        return deleteSurplus.all({ userId: session.userId, now: session.createdAt });
      });
      return evicted.map(({ id }) => String(id));
    },
    async find({ id, userId }) {
      const row = await read(() => select.get({ id, userId }));
      return row === undefined ? null : toSession(row);
    },
    async findWithUser({ id, userId }) {
      const { user, row } = await read(() => ({ user: selectUser.get(userId), row: select.get({ id, userId }) }));
      if (user === undefined) return null;
      return { user: toUser(user), session: row === undefined ? null : partWithUser(toSession(row)) };
    },
    async rotate(rotation) {
      const deadline = Date.now() + budget;
      const { sessionId: id, userId } = rotation;
      // SQLite has locked the database for writing when this reads the clock.
      const isInTime = () => Date.now() < deadline;
      const result = await write(() => {
        const session = change({ id, userId }, (stored) => (isInTime() ? rotated(stored, rotation) : null));
        const user = selectUser.get(userId);
        return session === null || user === undefined ? null : { user: toUser(user), ...partWithUser(session) };
      });
      if (result !== null) return result;
      return isInTime() ? 'stale' : 'too-late';
    },
    async revert(rotation) {
      const { sessionId: id, userId } = rotation;
      await write(() => change({ id, userId }, (session) => reverted(session, rotation)));
    },
    useProof: (key, proof) => isChanged(key, (session) => withProof(session, proof)),
    bindPage: (key, deviceKey) => isChanged(key, (session) => ({ ...session, deviceKey, browserKey: null })),
    bindBrowser: (key, browserKey) =>
      isChanged(key, (session) =>
        [null, browserKey].includes(session.browserKey) ? { ...session, browserKey } : null,
      ),
    authenticate: (key, authenticated) => isChanged(key, (session) => ({ ...session, ...authenticated })),
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
