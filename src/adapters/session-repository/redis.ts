import type { Cluster, Redis } from 'ioredis';
import type { SessionRepository } from '../../application/ports/session-repository.ts';
import { AppError } from '../../domain/errors/app-error.ts';
import type { Session } from '../../domain/session.ts';
import { serverTime } from '../server-time.ts';
import { answered } from './redis-errors.ts';
import { defineSessionCommands } from './redis-scripts.ts';
import { tooLate } from './too-late.ts';

/** The braces are a hash tag: whatever is kept of a session is kept on one node of a cluster. */
const keyOf = (id: string): string => `tandem:session:{${id}}`;

const toFields = (session: Session): string[] =>
  Object.entries(session).flatMap(([name, value]) => (value === null ? [] : [name, String(value)]));

const toSession = (id: string, fields: Record<string, string>): Session | null => {
  const { userId, currentTokenId, previousTokenId = null } = fields;
  if (userId === undefined || currentTokenId === undefined) return null;
  return {
    id,
    userId,
    currentTokenId,
    previousTokenId,
    rotatedAt: Number(fields.rotatedAt),
    createdAt: Number(fields.createdAt),
    expiresAt: Number(fields.expiresAt),
  };
};

/**
 * A hash for each session, which goes by itself when the session is over by Redis' clock.
 * @param budget milliseconds from its call on within which a rotation happens or never will. ADR 0022.
 */
export const redisSessionRepository = (redis: Redis | Cluster, { budget = 2_000 } = {}): SessionRepository => {
  defineSessionCommands(redis);
  const timeAt = (key: string) =>
    serverTime(async () => {
      const [seconds, microseconds] = await answered(redis.timeAtSession(key));
      return Number(seconds) * 1_000 + Number(microseconds) / 1_000;
    });
  const shared = timeAt(keyOf(''));
  /** Each node of a cluster has a clock of its own: there it is asked before each rotation. */
  const timeFor = (key: string) => (redis.isCluster ? timeAt(key) : shared);

  return {
    async add(session) {
      const added = await answered(redis.addSession(keyOf(session.id), session.expiresAt, ...toFields(session)));
      if (added === 0) throw new AppError('DB_UNIQUE_VIOLATION');
    },
    async find(id) {
      return toSession(id, await answered(redis.hgetall(keyOf(id))));
    },
    async rotate({ sessionId, from, to, at, expiresAt }) {
      const key = keyOf(sessionId);
      const time = timeFor(key);
      try {
        const deadline = await time.after(budget);
        const outcome = await answered(redis.rotateSession(key, from, to, at, expiresAt, deadline));
        if (outcome === 'late') throw tooLate();
        return outcome === 'won';
      } catch (error) {
        time.forget();
        throw error;
      }
    },
    async revert({ sessionId, from, to }) {
      await answered(redis.revertSession(keyOf(sessionId), from, to));
    },
    async end(id) {
      await answered(redis.del(keyOf(id)));
    },
    purge: async () => 0,
  };
};
