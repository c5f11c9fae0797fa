import type { Logger } from 'pino';
import { withFallback } from '../../resilience/with-fallback.ts';
import { RateLimitExceeded } from '../errors/exceptions.ts';

export type SharedCount = {
  /** Counts in Redis, or in the process while Redis is unavailable. */
  orElse(inRedis: () => Promise<void>, inProcess: () => Promise<void>): Promise<void>;
  /** Whether the process counts because Redis is unavailable. */
  degraded(): boolean;
};

/** Counts requests for all instances while Redis is available. */
export const sharedCount = (logger: Logger): SharedCount => {
  const redis = withFallback(logger, {
    unavailable: 'Redis is unavailable: each instance counts rate limits for itself',
    available: 'Redis is available again: rate limits are counted for all instances',
  });
  return {
    orElse: (inRedis, inProcess) => redis.call(inRedis, inProcess, (error) => error instanceof RateLimitExceeded),
    degraded: redis.isUnavailable,
  };
};
