import type { Cluster, Redis } from 'ioredis';
import type { LoginAttempts } from '../../application/ports/login-attempts.ts';
import { hashedKey } from './hashed-key.ts';
import { defineLoginCommands } from './redis-scripts.ts';

const keyOf = (key: string): string => `tandem:login:{${hashedKey(key)}}`;

/**
 * Counts for all instances. Rejects when Redis is away: `shared.ts` knows what then.
 * @param now epoch milliseconds; by default the clock of Redis, which all instances share.
 */
export const redisLoginAttempts = (redis: Redis | Cluster, now?: () => number): LoginAttempts => {
  defineLoginCommands(redis);
  const time = (): [now?: number] => (now === undefined ? [] : [now()]);
  return {
    begin: ({ key, network }) => redis.beginLogin(keyOf(key), network, ...time()),
    async succeed({ key }) {
      await redis.del(keyOf(key));
    },
    async withdraw({ key, network }) {
      await redis.withdrawLogin(keyOf(key), network, ...time());
    },
  };
};
