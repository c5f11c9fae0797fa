import { Cluster } from 'ioredis';
import type { Logger } from 'pino';
import type { Check } from '../../adapters/http/routes/health.ts';
import { EVICTS_COUNTS } from '../../adapters/redaction/safe-messages.ts';
import { outageLog } from '../../adapters/resilience/with-fallback.ts';
import { pingRedis, type RedisClient } from '../redis.ts';
import { evictionOf, infoOf } from './info.ts';

export type WatchedRedis = {
  /** Not required: without Redis, limits are counted in each process. */
  readonly check: Check;
  /** Whether Redis deletes counts when its memory is full, as the last check has seen. */
  readonly evicts: () => boolean;
};

/** Logs when Redis is found to evict, and when it no longer is. */
export const watchRedis = (redis: RedisClient, logger: Logger): WatchedRedis => {
  const eviction = outageLog(logger, {
    unavailable: 'Redis evicts keys when its memory is full: counts are lost, and clients can pass their limits',
    available: 'Redis no longer evicts keys',
  });
  const ping = async (): Promise<void> => {
    await pingRedis(redis);
    const nodes = redis instanceof Cluster ? redis.nodes('master') : [redis];
    const evicting = (await Promise.all(nodes.map(infoOf))).map(evictionOf).find((found) => found !== null);
    if (evicting === undefined) return eviction.succeeded();
    const error = new Error(EVICTS_COUNTS);
    eviction.failed(error, evicting);
    throw error;
  };
  return { check: { name: 'redis', ping, required: false }, evicts: eviction.isOut };
};
