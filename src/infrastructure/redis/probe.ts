import { randomUUID } from 'node:crypto';
import { redisCount } from '../../adapters/http/rate-limit/redis-count.ts';
import { redisLoginAttempts } from '../../adapters/login-attempts/redis.ts';
import { NOT_PERMITTED } from '../../adapters/redaction/safe-messages.ts';
import type { RedisClient } from './connect.ts';

/** Of two requests, the second one has to wait. */
const LIMIT = { requests: 1, window: 1_000 };

/**
 * Counts two requests and a log-in as the service does, with the same scripts and so with the same rights, and takes both back. Rejects if that
 * is impossible.
 */
export const probeCounts = async (redis: RedisClient): Promise<void> => {
  const key = `tandem:probe:${randomUUID()}`;
  try {
    await Promise.all([countRequests(redis, key), countLogin(redis, key)]);
  } catch (error) {
    throw isRefusal(error) ? new Error(NOT_PERMITTED) : error;
  }
};

const countRequests = async (redis: RedisClient, key: string): Promise<void> => {
  const count = redisCount(redis);
  await Promise.all([count(key, LIMIT), count(key, LIMIT)]);
  await redis.del(key);
};

const countLogin = async (redis: RedisClient, key: string): Promise<void> => {
  const attempts = redisLoginAttempts(redis);
  const attempt = { key, client: { kind: 'network', names: [key] } } as const;
  await attempts.begin(attempt);
  await attempts.withdraw(attempt);
};

/** The replies to a user without a right: to the command of a client, and to one of a script in Redis 7 and 6. */
const REFUSALS = [/^NOPERM /, /ACL failure in script/, /can't run this command/];

const isRefusal = (error: unknown): boolean =>
  error instanceof Error && REFUSALS.some((refusal) => refusal.test(error.message));
