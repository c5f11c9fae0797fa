import type { Logger } from 'pino';
import { keyedHash } from '../../adapters/crypto/secrets.ts';
import type { Check } from '../../adapters/http/request/settings.ts';
import { areUp } from '../../adapters/http/routes/service/health.ts';
import { type Counts, memoryCounts, type SharedCounts, sharedCounts } from '../../adapters/limits/counts.ts';
import type { RateLimitMode } from '../../adapters/metrics/prometheus.ts';
import { redisCounts } from '../../adapters/redis/counts.ts';
import type { Closing } from '../closing.ts';
import type { Config } from '../config.ts';
import { loadOrCreateKeys } from '../keys.ts';

export type Limits = {
  readonly counts: SharedCounts;
  /** Hashes the names of accounts and addresses for Redis. Those in the keys of requests are hashed already. */
  readonly hashOf?: (text: string) => string;
  readonly checks: readonly Check[];
  readonly mode: () => RateLimitMode;
  /** `null` without Redis. */
  readonly isRedisUp: (() => Promise<boolean>) | null;
};

const REDIS = {
  unavailable: 'Redis is unavailable: each instance counts requests and failed log-ins for itself',
  available: 'Redis is available again: requests and failed log-ins are counted for all instances',
};

/**
 * Opens the counts of the limits: in Redis for all instances, or in this process without Redis and while it is unavailable.
 * @param shared replaces Redis
 */
export const openLimits = async (
  config: Config,
  logger: Logger,
  opened: Closing,
  onFallback?: () => void,
  shared?: Counts,
): Promise<Limits> => {
  const { redisUrl } = config;
  const own = memoryCounts();
  if (shared !== undefined) {
    const counts = sharedCounts({ shared, own }, logger, REDIS, onFallback);
    return { counts, checks: [], mode: () => (counts.isDegraded() ? 'degraded' : 'shared'), isRedisUp: null };
  }
  if (redisUrl === null)
    return { counts: { ...own, isDegraded: () => false }, checks: [], mode: () => 'process', isRedisUp: null };
  // Imported only with REDIS_URL: its library has some 50 modules.
  const { openOptionalRedis } = await import('../../adapters/redis/open.ts');
  const { watchRedis } = await import('./redis-check.ts');
  const redis = await openOptionalRedis(redisUrl, logger);
  opened.add(() => redis.disconnect());
  const { check, evicts } = watchRedis(redis, logger);
  // Logs at the start if Redis evicts keys.
  await check.ping().catch(() => undefined);
  const counts = sharedCounts({ shared: redisCounts(redis), own }, logger, REDIS, onFallback);
  const { refresh } = config.keys ?? (await loadOrCreateKeys(config.dataDir));
  const hashOf = keyedHash(refresh.privateKey);
  return {
    counts: { ...counts, countRequest: (key, window) => counts.countRequest(`tandem:requests:${hashOf(key)}`, window) },
    hashOf,
    checks: [check],
    mode: () => (counts.isDegraded() || evicts() ? 'degraded' : 'shared'),
    isRedisUp: () => areUp([check]),
  };
};
