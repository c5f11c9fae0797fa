import type { SessionRepository } from '../../../src/application/ports/session-repository.ts';
import { withProof } from '../../../src/domain/device-binding.ts';
import { AppError } from '../../../src/domain/errors/app-error.ts';
import {
  byLastUse,
  isLive,
  partWithUser,
  type RotationOutcome,
  reverted,
  rotated,
  SESSIONS_PER_USER,
  type Session,
  type SessionKey,
} from '../../../src/domain/session.ts';
import type { User } from '../../../src/domain/user.ts';
import { type Access, type Rows, translating } from '../harness/shared-rows.ts';

/** The connection of an instance, the users, and the budget of its rotations in milliseconds. */
export type Connection = {
  readonly access: Access<Session>;
  readonly users: readonly User[];
  readonly budget: number;
};

/** The time on a clock that all threads of this process share. */
export const now = (): number => performance.timeOrigin + performance.now();

export const findIn = (rows: Rows<Session>, { id, userId }: SessionKey): Session | null => {
  const session = rows.get(id);
  return session?.userId === userId ? session : null;
};

export const ofUser = (rows: Rows<Session>, userId: string): Session[] =>
  rows.all().filter((session) => session.userId === userId);

export const liveOf = (rows: Rows<Session>, userId: string, at: number): Session[] =>
  ofUser(rows, userId)
    .filter((session) => isLive(session, at))
    .sort(byLastUse);

/** @returns the ids of the removed sessions. */
export const removeAll = (rows: Rows<Session>, sessions: readonly Session[]): string[] =>
  sessions.map(({ id }) => {
    rows.delete(id);
    return id;
  });

/** Changes a session by a rule. @returns whether the rule changed it. */
export const change = (rows: Rows<Session>, key: SessionKey, rule: (session: Session) => Session | null): boolean => {
  const session = findIn(rows, key);
  const changed = session && rule(session);
  if (changed !== null) rows.set(changed);
  return changed !== null;
};

/** A session that was rotated, with its user. */
export const withUser = (users: readonly User[], session: Session): RotationOutcome => {
  const user = users.find(({ id }) => id === session.userId);
  return user === undefined ? 'stale' : { user, ...partWithUser(session) };
};

/** The mutants differ from this adapter in one fault each. */
export const correctSessions = ({ access: untranslated, users, budget }: Connection): SessionRepository => {
  const access = translating(untranslated);
  return {
    add: (session) =>
      access((rows) => {
        if (rows.get(session.id) !== undefined) throw new AppError('DB_UNIQUE_VIOLATION');
        if (!users.some(({ id }) => id === session.userId)) throw new AppError('DB_QUERY_FAILED');
        rows.set(session);
        return removeAll(rows, liveOf(rows, session.userId, session.createdAt).slice(SESSIONS_PER_USER));
      }),
    find: (key) => access((rows) => findIn(rows, key)),
    findWithUser: (key) =>
      access((rows) => {
        const user = users.find(({ id }) => id === key.userId);
        const session = findIn(rows, key);
        return user === undefined ? null : { user: { ...user }, session: session && partWithUser(session) };
      }),
    rotate: (rotation) => {
      const deadline = now() + budget;
      return access((rows) => {
        if (now() >= deadline) return 'too-late';
        const session = findIn(rows, { id: rotation.sessionId, userId: rotation.userId });
        const next = session && rotated(session, rotation);
        if (next === null) return 'stale';
        rows.set(next);
        return withUser(users, next);
      });
    },
    revert: (rotation) =>
      access((rows) => {
        const session = findIn(rows, { id: rotation.sessionId, userId: rotation.userId });
        const before = session && reverted(session, rotation);
        if (before !== null) rows.set(before);
      }),
    useProof: (key, proof) => access((rows) => change(rows, key, (session) => withProof(session, proof))),
    bindPage: (key, deviceKey) =>
      access((rows) => change(rows, key, (session) => ({ ...session, deviceKey, browserKey: null }))),
    bindBrowser: (key, browserKey) =>
      access((rows) =>
        change(rows, key, (session) =>
          [null, browserKey].includes(session.browserKey) ? { ...session, browserKey } : null,
        ),
      ),
    authenticate: (key, authenticated) =>
      access((rows) => change(rows, key, (session) => ({ ...session, ...authenticated }))),
    end: (key) => access((rows) => findIn(rows, key) !== null && rows.delete(key.id)),
    listByUser: (userId, at) => access((rows) => liveOf(rows, userId, at)),
    endByUser: (userId, exceptId) =>
      access((rows) =>
        removeAll(
          rows,
          ofUser(rows, userId).filter(({ id }) => id !== exceptId),
        ),
      ),
    purge: (at, limit) =>
      access((rows) => {
        const expired = rows.all().filter((session) => !isLive(session, Math.min(at, now())));
        const purged = expired.sort((a, b) => a.expiresAt - b.expiresAt).slice(0, limit);
        removeAll(rows, purged);
        return purged.map(({ id, userId }) => ({ id, userId }));
      }),
  };
};
