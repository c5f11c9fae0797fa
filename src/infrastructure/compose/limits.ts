import type { Logger } from 'pino';
import type { Check } from '../../adapters/http/request/settings.ts';
import { isReady } from '../../adapters/http/routes/service/health.ts';
import { memoryCounts, type SharedCounts, sharedCounts } from '../../adapters/limits/counts.ts';
import type { RateLimitMode } from '../../adapters/metrics/prometheus.ts';
import { redisCounts } from '../../adapters/redis/counts.ts';
import type { Closing } from '../closing.ts';

type Limits = {
  readonly counts: SharedCounts;
  readonly checks: readonly Check[];
  readonly mode: () => RateLimitMode;
  /** `null` without Redis. */
  readonly isRedisUp: (() => Promise<boolean>) | null;
};

/** What limits are counted in: for all instances through Redis; in the process without one, or while it is unavailable. */
export const openLimits = async (
  urls: readonly string[],
  logger: Logger,
  opened: Closing,
  onFallback?: () => void,
): Promise<Limits> => {
  const own = memoryCounts();
  if (urls.length === 0)
    return { counts: { ...own, isDegraded: () => false }, checks: [], mode: () => 'process', isRedisUp: null };
  // Imported only with REDIS_URL: its library has some 50 modules.
  const { openOptionalRedis } = await import('../../adapters/redis/open.ts');
  const { watchRedis } = await import('./redis-check.ts');
  const redis = await openOptionalRedis(urls, logger);
  opened.add(() => redis.disconnect());
  const { check, evicts } = watchRedis(redis, logger);
  // The log says at the start whether Redis evicts.
  await check.ping().catch(() => undefined);
  const counts = sharedCounts({ shared: redisCounts(redis), own }, logger, onFallback);
  return {
    counts,
    checks: [check],
    mode: () => (counts.isDegraded() || evicts() ? 'degraded' : 'shared'),
    isRedisUp: () => isReady([{ ...check, required: true }]),
  };
};
