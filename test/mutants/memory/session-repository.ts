import type { SessionRepository } from '../../../src/application/ports/session-repository.ts';
import { withProof } from '../../../src/domain/device-binding.ts';
import { AppError } from '../../../src/domain/errors/app-error.ts';
import {
  byLastUse,
  isLive,
  partWithUser,
  reverted,
  rotated,
  SESSIONS_PER_USER,
  type Session,
  type SessionKey,
} from '../../../src/domain/session.ts';
import type { User } from '../../../src/domain/user.ts';
import type { Tables } from './tables.ts';

/** A copy, so that callers cannot change what is stored. */
const copied = (session: Session): Session => structuredClone(session);

/** Keeps sessions in memory until the process ends, beside their users. For tests and development. */
export const memorySessionRepository = (tables: Tables): SessionRepository => {
  const sessions = tables.open<Session>('sessions');
  const users = tables.open<User>('users');

  const find = ({ id, userId }: SessionKey): Session | null => {
    const session = sessions.get(id);
    return session?.userId === userId ? session : null;
  };
  const ofUser = (userId: string): Session[] => [...sessions.values()].filter((session) => session.userId === userId);
  const liveOf = (userId: string, now: number): Session[] =>
    ofUser(userId)
      .filter((session) => isLive(session, now))
      .sort(byLastUse);

  return {
    async add(session) {
      if (sessions.has(session.id)) throw new AppError('DB_UNIQUE_VIOLATION');
      if (!users.has(session.userId)) throw new AppError('DB_QUERY_FAILED', { reason: 'the session has no user' });
      sessions.set(session.id, copied(session));
      const evicted = liveOf(session.userId, session.createdAt).slice(SESSIONS_PER_USER);
      for (const { id } of evicted) sessions.delete(id);
      return evicted.map(({ id }) => id);
    },
    async find(key) {
      const session = find(key);
      return session && copied(session);
    },
    async findWithUser(key) {
      const user = users.get(key.userId);
      const session = find(key);
      return user === undefined ? null : { user: { ...user }, session: session && partWithUser(session) };
    },
    async rotate(rotation) {
      const session = find({ id: rotation.sessionId, userId: rotation.userId });
      const next = session && rotated(session, rotation);
      const user = users.get(rotation.userId);
      if (next === null || user === undefined) return 'stale';
      sessions.set(next.id, next);
      return { user: { ...user }, ...partWithUser(next) };
    },
    async revert(rotation) {
      const session = find({ id: rotation.sessionId, userId: rotation.userId });
      const before = session && reverted(session, rotation);
      if (before !== null) sessions.set(before.id, before);
    },
    async useProof(key, proof) {
      const session = find(key);
      const used = session && withProof(session, proof);
      if (used !== null) sessions.set(used.id, used);
      return used !== null;
    },
    async bindPage(key, deviceKey) {
      const session = find(key);
      if (session !== null) sessions.set(session.id, { ...session, deviceKey, browserKey: null });
      return session !== null;
    },
    async bindBrowser(key, browserKey) {
      const session = find(key);
      if (session === null || ![null, browserKey].includes(session.browserKey)) return false;
      sessions.set(session.id, { ...session, browserKey });
      return true;
    },
    async authenticate(key, authenticated) {
      const session = find(key);
      if (session !== null) sessions.set(session.id, { ...session, ...authenticated });
      return session !== null;
    },
    end: async (key) => find(key) !== null && sessions.delete(key.id),
    listByUser: async (userId, now) => liveOf(userId, now).map(copied),
    async endByUser(userId, exceptId) {
      const ended = ofUser(userId).filter(({ id }) => id !== exceptId);
      for (const { id } of ended) sessions.delete(id);
      return ended.map(({ id }) => id);
    },
    async purge(now, limit) {
      const expired = [...sessions.values()]
        .filter((session) => !isLive(session, now))
        .sort((a, b) => a.expiresAt - b.expiresAt)
        .slice(0, limit);
      for (const session of expired) sessions.delete(session.id);
      return expired.map(({ id, userId }) => ({ id, userId }));
    },
  };
};
