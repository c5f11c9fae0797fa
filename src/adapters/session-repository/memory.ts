import type { SessionRepository } from '../../application/ports/session-repository.ts';
import { AppError } from '../../domain/errors/app-error.ts';
import { isLive, reverted, rotated, type Session } from '../../domain/session.ts';

/** Forgets everything with the process. For tests and development. */
export const memorySessionRepository = (): SessionRepository => {
  const sessions = new Map<string, Session>();

  return {
    async add(session) {
      if (sessions.has(session.id)) throw new AppError('DB_UNIQUE_VIOLATION');
      sessions.set(session.id, { ...session });
    },
    async find(id) {
      const session = sessions.get(id);
      return session === undefined ? null : { ...session };
    },
    async rotate(rotation) {
      const session = sessions.get(rotation.sessionId);
      const next = session === undefined ? null : rotated(session, rotation);
      if (next !== null) sessions.set(next.id, next);
      return next !== null;
    },
    async revert(rotation) {
      const session = sessions.get(rotation.sessionId);
      const before = session === undefined ? null : reverted(session, rotation);
      if (before !== null) sessions.set(before.id, before);
    },
    async end(id) {
      sessions.delete(id);
    },
    async purge(now, limit) {
      const over = [...sessions.values()].filter((session) => !isLive(session, now)).slice(0, limit);
      for (const session of over) sessions.delete(session.id);
      return over.length;
    },
  };
};
