import type { Cluster, Redis } from 'ioredis';
import type { LoginAttempts } from '../../application/ports/login-attempts.ts';
import { hashedKey } from './hashed-key.ts';
import { defineLoginCommands } from './redis-scripts.ts';

const keyOf = (key: string): string => `tandem:login:{${hashedKey(key)}}`;

/** Counts for all instances. Rejects when Redis is away: `shared.ts` knows what then. */
export const redisLoginAttempts = (redis: Redis | Cluster): LoginAttempts => {
  defineLoginCommands(redis);
  return {
    begin: ({ key, network }) => redis.beginLogin(keyOf(key), network),
    async succeed({ key }) {
      await redis.del(keyOf(key));
    },
    async withdraw({ key, network }) {
      await redis.withdrawLogin(keyOf(key), network);
    },
  };
};
