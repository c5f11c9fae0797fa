import { Redis } from 'ioredis';

/** Which database of a Redis was taken last. */
const LAST_TAKEN = 'tandem:test:last-database';

/** An empty database of the test's own on a Redis, its URL, and how to empty it. Databases are taken in turn. */
export const takeRedisDatabase = async (server: string): Promise<{ url: string; empty: () => Promise<void> }> => {
  const number = await asking(server, async (redis) => {
    const [, count] = (await redis.config('GET', 'databases')) as string[];
    return 1 + ((await redis.incr(LAST_TAKEN)) % (Number(count) - 1));
  });
  const url = new URL(server);
  url.pathname = `/${number}`;
  const empty = async () => void (await asking(url.href, (redis) => redis.flushdb()));
  await empty();
  return { url: url.href, empty };
};

const asking = async <Answer>(url: string, ask: (redis: Redis) => Promise<Answer>): Promise<Answer> => {
  const redis = new Redis(url, { maxRetriesPerRequest: 1 });
  try {
    return await ask(redis);
  } finally {
    redis.disconnect();
  }
};
