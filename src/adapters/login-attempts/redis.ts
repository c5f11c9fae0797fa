import type { Cluster, Redis } from 'ioredis';
import type { Attempt, LoginAttempts } from '../../application/ports/login-attempts.ts';
import { textOf } from '../../domain/login-throttle.ts';
import { hashedKey } from './hashed-key.ts';
import { defineLoginCommands } from './redis-scripts.ts';

/**
 * Counts for all instances. Rejects when Redis is away: `shared.ts` knows what then.
 * @param now epoch milliseconds; by default the clock of Redis, which all instances share.
 */
export const redisLoginAttempts = (redis: Redis | Cluster, now: () => number | '' = () => ''): LoginAttempts => {
  defineLoginCommands(redis);
  const given = ({ key, party }: Attempt) =>
    [`tandem:login:{${hashedKey(key)}}`, party.kind, textOf(party), now()] as const;
  return {
    begin: (attempt) => redis.beginLogin(...given(attempt)),
    async succeed(attempt) {
      await redis.settleLogin(...given(attempt), 1);
    },
    async withdraw(attempt) {
      await redis.settleLogin(...given(attempt), 0);
    },
  };
};
