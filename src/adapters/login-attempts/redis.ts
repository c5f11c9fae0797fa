import type { Cluster, Redis } from 'ioredis';
import type { Attempt, LoginAttempts } from '../../application/ports/login-attempts.ts';
import { textOf } from '../../domain/login-throttle.ts';
import { hashedKey } from './hashed-key.ts';
import { defineLoginCommands } from './redis-scripts.ts';

/**
 * Counts in Redis, for all instances. Rejects when Redis is unavailable; `shared.ts` handles that.
 * @param now epoch milliseconds; empty, which is the default, for the clock of Redis.
 */
export const redisLoginAttempts = (redis: Redis | Cluster, now: () => number | '' = () => ''): LoginAttempts => {
  defineLoginCommands(redis);
  const argumentsOf = ({ key, party }: Attempt) =>
    [`tandem:login:{${hashedKey(key)}}`, party.kind, textOf(party), now()] as const;
  return {
    begin: (attempt) => redis.beginLogin(...argumentsOf(attempt)),
    async succeed(attempt) {
      await redis.settleLogin(...argumentsOf(attempt), 1);
    },
    async withdraw(attempt) {
      await redis.settleLogin(...argumentsOf(attempt), 0);
    },
  };
};
