import { Redis } from 'ioredis';

/** The key that counts the databases taken. */
const LAST_TAKEN = 'tandem:test:last-database';

/** Takes the next database of a Redis, and empties it. @returns the URL of the database */
export const takeRedisDatabase = async (server: string): Promise<string> => {
  const number = await withRedis(server, async (redis) => {
    // ioredis types the reply as `unknown`. The reply is the name and the value.
    const [, count] = (await redis.config('GET', 'databases')) as string[];
    return 1 + ((await redis.incr(LAST_TAKEN)) % (Number(count) - 1));
  });
  const url = new URL(server);
  url.pathname = `/${number}`;
  await withRedis(url.href, (redis) => redis.flushdb());
  return url.href;
};

const withRedis = async <Answer>(url: string, ask: (redis: Redis) => Promise<Answer>): Promise<Answer> => {
  const redis = new Redis(url, { maxRetriesPerRequest: 1 });
  try {
    return await ask(redis);
  } finally {
    redis.disconnect();
  }
};
