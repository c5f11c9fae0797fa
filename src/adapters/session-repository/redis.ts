import type { Cluster, Redis } from 'ioredis';
import type { SessionRepository } from '../../application/ports/session-repository.ts';
import { AppError } from '../../domain/errors/app-error.ts';
import { byLastUse, isLive, type RotatedToken, type Session, type SessionKey } from '../../domain/session.ts';
import { answered } from './redis-errors.ts';
import { defineSessionCommands } from './redis-scripts.ts';
import { ROTATION_BUDGET } from './rotation-recovery/budgets.ts';
import { notExecuted } from './rotation-recovery/not-executed.ts';
import { serverClock } from './rotation-recovery/server-clock.ts';

/** One key for all sessions of a user, so that a script can change several of them atomically, also in a cluster. */
const keyOf = (userId: string): string => `tandem:sessions:${userId}`;

/** Members as strings, without those that are `null`. */
const texts = (members: object): Record<string, string> =>
  Object.fromEntries(
    Object.entries(members).flatMap(([name, value]) => (value === null ? [] : [[name, String(value)]])),
  );

/** An empty list is left out, since Lua does not distinguish it from an empty object. */
const toStored = ({ id: _id, userId: _userId, earlierTokens, ...rest }: Session): string =>
  JSON.stringify({ ...texts(rest), ...(earlierTokens.length > 0 && { earlierTokens: earlierTokens.map(texts) }) });

const toSession = (key: SessionKey, stored: string): Session => {
  const { previousTokenId = null, earlierTokens = [], userAgent = null, address = null, ...rest } = JSON.parse(stored);
  return {
    id: key.id,
    userId: key.userId,
    currentTokenId: rest.currentTokenId,
    previousTokenId,
    rotatedAt: Number(rest.rotatedAt),
    earlierTokens: earlierTokens.map(toRotatedToken),
    createdAt: Number(rest.createdAt),
    expiresAt: Number(rest.expiresAt),
    userAgent,
    address,
  };
};

const toRotatedToken = ({ tokenId, rotatedAt }: Record<keyof RotatedToken, string>): RotatedToken => ({
  tokenId,
  rotatedAt: Number(rotatedAt),
});

/**
 * Stores sessions in Redis, one hash for each user, which expires with the last of its sessions.
 * @param budget milliseconds after the call, within which a rotation happens or never will. ADR 0022.
 */
export const redisSessionRepository = (
  redis: Redis | Cluster,
  { budget = ROTATION_BUDGET.redis } = {},
): SessionRepository => {
  defineSessionCommands(redis);
  const clockAt = (key: string) =>
    serverClock(async () => {
      const [seconds, microseconds] = await answered(redis.timeAtSessions(key));
      return Number(seconds) * 1_000 + Number(microseconds) / 1_000;
    });
  const shared = clockAt(keyOf(''));
  /** Each node of a cluster has its own clock, which is read before each rotation. */
  const clockFor = (key: string) => (redis.isCluster ? clockAt(key) : shared);

  return {
    async add(session) {
      const { id, userId, createdAt } = session;
      const added = await answered(redis.addSession(keyOf(userId), id, toStored(session), createdAt));
      if (added === null) throw new AppError('DB_UNIQUE_VIOLATION');
      return added;
    },
    async find(key) {
      const stored = await answered(redis.hget(keyOf(key.userId), key.id));
      return stored === null ? null : toSession(key, stored);
    },
    async rotate({ sessionId, userId, from, to, at, expiresAt, racesSince }) {
      const key = keyOf(userId);
      const clock = clockFor(key);
      try {
        const deadline = await clock.deadlineIn(budget).catch(notExecuted);
        const step = [sessionId, from, to, at, expiresAt, racesSince, deadline];
        const outcome = await answered(redis.rotateSession(key, ...step));
        if (outcome === 'too-late') clock.forget();
        return outcome;
      } catch (error) {
        clock.forget();
        throw error;
      }
    },
    async revert({ sessionId, userId, from, to }) {
      await answered(redis.revertSession(keyOf(userId), sessionId, from, to));
    },
    async end({ id, userId }) {
      return (await answered(redis.hdel(keyOf(userId), id))) > 0;
    },
    async listByUser(userId, now) {
      const stored = Object.entries(await answered(redis.hgetall(keyOf(userId))));
      return stored
        .map(([id, session]) => toSession({ id, userId }, session))
        .filter((session) => isLive(session, now))
        .sort(byLastUse);
    },
    async endByUser(userId, exceptId) {
      const key = keyOf(userId);
      return answered(redis.endSessions(key, exceptId ?? ''));
    },
    purge: async () => [],
  };
};
