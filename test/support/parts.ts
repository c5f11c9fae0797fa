import { inject } from 'vitest';
import { createDatabase } from './databases.ts';
import { takeRedisDatabase } from './redis-databases.ts';
import { postgresOfTheTests, redisOfTheTests } from './servers/of-the-tests.ts';

/** The servers that this project's services run on; `null` where everything is embedded. */
export const realParts = (): { readonly postgresql: string; readonly redis: string } | null => {
  if (inject('parts') !== 'real') return null;
  const postgresql = postgresOfTheTests();
  const redis = redisOfTheTests();
  if (postgresql === undefined || redis === undefined) throw new Error('there is no PostgreSQL or no Redis here');
  return { postgresql, redis };
};

type Parts = { readonly env: Readonly<Record<string, string>>; readonly remove: () => Promise<void> };

/**
 * What one service under test has to itself, as variables of its environment: a database, and a Redis that counts its limits.
 * @param storesItself whether it needs a database, or was given repositories.
 */
export const partsOfService = async (storesItself: boolean): Promise<Parts> => {
  const real = realParts();
  if (real === null) return { env: { DATABASE_URL: 'memory:' }, remove: async () => undefined };
  const redis = await takeRedisDatabase(real.redis);
  const database = storesItself
    ? await createDatabase(real.postgresql)
    : { url: 'memory:', drop: async () => undefined };
  return {
    env: { DATABASE_URL: database.url, REDIS_URL: redis.url },
    remove: async () => void (await Promise.all([redis.empty(), database.drop()])),
  };
};
