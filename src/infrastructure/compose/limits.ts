import type { Logger } from 'pino';
import { keyedHash } from '../../adapters/crypto/secrets.ts';
import type { Check } from '../../adapters/http/request/settings.ts';
import { areUp } from '../../adapters/http/routes/service/health.ts';
import { type Counts, memoryCounts, type SharedCounts, sharedCounts } from '../../adapters/limits/counts.ts';
import type { RateLimitMode } from '../../adapters/metrics/prometheus.ts';
import { redisCounts } from '../../adapters/redis/counts.ts';
import type { OpenedParts } from '../closing.ts';
import type { Config } from '../config.ts';
import { loadOrCreateKeys } from '../keys.ts';

export type Limits = {
  readonly counts: SharedCounts;
  /** Hashes accounts and addresses of clients, which Redis must not have in plain text; absent without Redis. `counts.countRequest` hashes its keys itself. */
  readonly hashOf?: (text: string) => string;
  readonly checks: readonly Check[];
  readonly mode: () => RateLimitMode;
  /** `null` without Redis. */
  readonly isRedisUp: (() => Promise<boolean>) | null;
};

const REDIS_LINES = {
  unavailable: 'Redis is unavailable: each process counts requests and failed log-ins for itself',
  available: 'Redis is available again: requests and failed log-ins are counted for all instances',
};

/** Opens the counts for rate limits, log-in attempts and repeated requests: in Redis (or `shared`) for all instances, without Redis in this process. */
export const openLimits = async (
  config: Config,
  logger: Logger,
  opened: OpenedParts,
  onFallback?: () => void,
  shared?: Counts,
): Promise<Limits> => {
  const { redisUrl } = config;
  const own = memoryCounts();
  if (shared !== undefined) {
    const counts = sharedCounts({ shared, own }, logger, REDIS_LINES, onFallback);
    return { counts, checks: [], mode: () => (counts.isDegraded() ? 'degraded' : 'shared'), isRedisUp: null };
  }
  if (redisUrl === null)
    return { counts: { ...own, isDegraded: () => false }, checks: [], mode: () => 'process', isRedisUp: null };
  // Loaded only with REDIS_URL, since its library has many modules.
  const { openOptionalRedis } = await import('../../adapters/redis/open.ts');
  const { watchRedis } = await import('./redis-check.ts');
  const redis = await openOptionalRedis(redisUrl, logger);
  opened.add(() => redis.disconnect());
  const { check, evicts } = watchRedis(redis, logger);
  // Checked at the start, so that the log says at once whether Redis evicts keys.
  await check.ping().catch(() => undefined);
  const counts = sharedCounts({ shared: redisCounts(redis), own }, logger, REDIS_LINES, onFallback);
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
