import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';

/** A Redis that tests may keep keys in, or `undefined` where there is none. */
export const TEST_REDIS_URL: string | undefined = process.env.TEST_REDIS_URL;

/** A connection to a Redis that shows the keys of this connection alone, and takes them away when it is closed. */
export const openOnRedis = (url: string): { readonly redis: Redis; readonly close: () => Promise<void> } => {
  const keyPrefix = `tandem-test-${randomUUID()}:`;
  const redis = new Redis(url, { keyPrefix });
  const close = async () => {
    for await (const keys of redis.scanStream({ match: `${keyPrefix}*` })) {
      for (const key of keys as string[]) await redis.unlink(key.slice(keyPrefix.length));
    }
    redis.disconnect();
  };
  return { redis, close };
};
