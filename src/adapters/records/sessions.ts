import { setTimeout as pause } from 'node:timers/promises';
import pLimit from 'p-limit';
import type { SessionRepository } from '../../application/ports/session-repository.ts';
import type { UserRepository } from '../../application/ports/user-repository.ts';
import type { Records, Stored } from '../../application/storage/records.ts';
import { changeRow, inOrder, removeRow, removeRows, untilDone, usersInOrder } from '../../application/storage/rows.ts';
import type { Tables } from '../../application/storage/tables.ts';
import { withProof } from '../../domain/device.ts';
import {
  byLastUse,
  isEndedBy,
  isLive,
  partWithUser,
  type Rotation,
  reverted,
  rotated,
  SESSIONS_PER_USER,
  type Session,
  type SessionKey,
} from '../../domain/session.ts';
import { monotonicTime } from '../clock/system.ts';
import { userRepositoryOver } from './users.ts';

type Row = Tables['sessions'];

/** How often one purge lists due sessions at most, even if many of them were refreshed since their last check. */
const MAX_PURGE_ROUNDS = 10;

const toSession = ({ purgeCheckAt: _at, version: _version, ...session }: Row & Partial<Stored<'sessions'>>): Session =>
  session;

const rowAfter = ({ purgeCheckAt }: Row, session: Session): Row => ({
  ...session,
  purgeCheckAt: Math.min(purgeCheckAt, session.expiresAt),
});

const idsOf = (rows: readonly Row[]): string[] => rows.map(({ id }) => id);

export const sessionRepositoryOver = (
  records: Records,
  users: UserRepository = userRepositoryOver(records),
): SessionRepository => {
  /** The sessions that a query finds, without those that a mass ending has ended. */
  const withoutMassEnded = async (find: () => Promise<Stored<'sessions'>[]>): Promise<Stored<'sessions'>[]> => {
    // The endings are read before the sessions, since an ending is removed after all sessions that it covers.
    const [endings, rows] = await inOrder(records, () => records.list('massEndings', { order: ['id'] }), find);
    return rows.filter((row) => !endings.some((ending) => isEndedBy(row, ending)));
  };
  const find = async ({ id, userId }: SessionKey) =>
    (await withoutMassEnded(() => records.list('sessions', { equal: { id, userId } })))[0] ?? null;
  const liveOf = async (userId: string, now: number): Promise<Stored<'sessions'>[]> => {
    const rows = await withoutMassEnded(() => records.list('sessions', { equal: { userId } }));
    return rows.filter((row) => isLive(row, now)).sort(byLastUse);
  };
  const change = async ({ id, userId }: SessionKey, rule: (session: Session) => Session | null): Promise<boolean> => {
    const after = await changeRow(records, 'sessions', { id, userId }, (row) => {
      const session = rule(toSession(row));
      return session && rowAfter(row, session);
    });
    return after !== null;
  };

  return {
    async add(session) {
      const { userId } = session;
      // The user is locked first, as in other units that change rows of the user: otherwise two units could wait for each other.
      await users.lock(userId);
      const [, surplus] = await inOrder(
        records,
        () => records.insert('sessions', { ...session, purgeCheckAt: session.expiresAt }),
        () => records.list('sessions', { equal: { userId }, skip: SESSIONS_PER_USER, limit: 1 }),
      );
      if (surplus.length === 0) return [];
      // Of several concurrent calls, the last one sees all sessions, and removes the surplus.
      const live = await liveOf(userId, session.createdAt);
      return idsOf(await records.remove('sessions', live.slice(SESSIONS_PER_USER)));
    },
    async find(key) {
      const row = await find(key);
      return row && toSession(row);
    },
    async findWithUser(key) {
      const user = await users.findById(key.userId);
      if (user === null) return null;
      const row = await find(key);
      return { user, session: row && partWithUser(toSession(row)) };
    },
    async rotate(rotation) {
      const next = await untilDone(async () => {
        const row = await find({ id: rotation.sessionId, userId: rotation.userId });
        const session = row && rotated(toSession(row), rotation);
        if (row === null || session === null) return null;
        return (await records.replace('sessions', row, rowAfter(row, session))) ? session : undefined;
      });
      // The user is read after the rotation, so that the new access token has every change of the user that was made before it.
      const user = next && (await users.findById(rotation.userId));
      return next === null || user === null ? 'stale' : { user, ...partWithUser(next) };
    },
    async revert(rotation) {
      await change({ id: rotation.sessionId, userId: rotation.userId }, (session) => reverted(session, rotation));
    },
    useProof: (key, proof) => change(key, (session) => withProof(session, proof)),
    bindPage: (key, deviceKey) => change(key, (session) => ({ ...session, deviceKey, browserKey: null })),
    bindBrowser: (key, browserKey) =>
      change(key, (session) =>
        session.browserKey === null || session.browserKey === browserKey ? { ...session, browserKey } : null,
      ),
    update: (key, changed) => change(key, (session) => ({ ...session, ...changed })),
    async end({ id, userId }) {
      await users.lock(userId);
      return (await removeRow(records, 'sessions', { id, userId })) !== null;
    },
    listByUser: async (userId, now) => (await liveOf(userId, now)).map(toSession),
    async listAll(after, limit) {
      const range = after === null ? {} : { range: ['id', '>', after] as const };
      return (await records.list('sessions', { ...range, order: ['id'], limit })).map(toSession);
    },
    async endByUser(userId, isMeant) {
      await users.lock(userId);
      return idsOf(await removeRows(records, 'sessions', { userId }, isMeant));
    },
    /** A refresh does not raise `purgeCheckAt`. So of the sessions whose check is due, the refreshed ones get a later check, and the others are removed. */
    async purge(now, limit) {
      const purgedRows: Row[] = [];
      for (let round = 0; round < MAX_PURGE_ROUNDS && purgedRows.length < limit; round += 1) {
        const dueRows = await records.list('sessions', {
          range: ['purgeCheckAt', '<=', now],
          order: ['purgeCheckAt'],
          limit,
        });
        const refreshedRows = dueRows.filter(({ expiresAt, purgeCheckAt }) => expiresAt > purgeCheckAt);
        for (const row of refreshedRows)
          await records.replace('sessions', row, { ...row, purgeCheckAt: row.expiresAt });
        // The due sessions are listed again, since the later checks have changed their order.
        if (refreshedRows.length > 0) continue;
        const expiredRows = dueRows.slice(0, limit - purgedRows.length);
        for (const id of usersInOrder(expiredRows)) await users.lock(id);
        purgedRows.push(...(await records.remove('sessions', expiredRows)));
        if (dueRows.length < limit) break;
      }
      return purgedRows.map(({ id, userId }) => ({ id, userId }));
    },
  };
};

/** For how long this process tries to revert a rotation, for instance during a fail-over of the database. */
const REVERT_PERIOD_MS = 60_000;
/** How many rotations are remembered. If there is one more, this process no longer tries to revert the oldest. */
const MAX_UNCONFIRMED = 5_000;
/** How many attempts `keepReverting` makes at once: several, since one may wait for a locked row; but few, so that requests get connections, too. */
const CONCURRENT_REVERTS = 5;

/**
 * After a failed call of `rotate` or `revert`, the rotation is reverted, so that the client can use its refresh token again (ADR 0003). This process tries
 * that for up to a minute: after each `retryInterval`, and before `rotate` and `find` of the session.
 * @param retryInterval milliseconds
 */
export const revertingSessions = (store: SessionRepository, { retryInterval = 250 } = {}): SessionRepository => {
  const unconfirmed = new Set<Rotation>();
  const limitReverts = pLimit(CONCURRENT_REVERTS);

  const revert = async (rotation: Rotation): Promise<void> => {
    await store.revert(rotation);
    unconfirmed.delete(rotation);
  };
  const keepReverting = async (rotation: Rotation): Promise<void> => {
    unconfirmed.add(rotation);
    for (const oldest of unconfirmed) if (unconfirmed.size > MAX_UNCONFIRMED) unconfirmed.delete(oldest);
    const end = monotonicTime() + REVERT_PERIOD_MS;
    const isWaiting = () => unconfirmed.has(rotation) && monotonicTime() < end;
    const attempt = async () => {
      if (isWaiting()) await revert(rotation);
    };
    while (isWaiting()) await limitReverts(attempt).catch(() => pause(retryInterval, undefined, { ref: false }));
    unconfirmed.delete(rotation);
  };
  /** @throws AppError DB_QUERY_FAILED if a rotation cannot be reverted. The session must not be used then: perhaps no client has its current token. */
  const revertAllOf = async (sessionId: string): Promise<void> => {
    for (const rotation of unconfirmed) if (rotation.sessionId === sessionId) await revert(rotation);
  };
  const revertOnFailure = async <Result>(rotation: Rotation, call: Promise<Result>): Promise<Result> => {
    try {
      return await call;
    } catch (error) {
      void keepReverting(rotation);
      throw error;
    }
  };

  return {
    ...store,
    async find(key) {
      await revertAllOf(key.id);
      return store.find(key);
    },
    async rotate(rotation) {
      await revertAllOf(rotation.sessionId);
      return revertOnFailure(rotation, store.rotate(rotation));
    },
    revert: (rotation) => revertOnFailure(rotation, store.revert(rotation)),
  };
};
