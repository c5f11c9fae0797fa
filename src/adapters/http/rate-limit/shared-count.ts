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
    away: 'Redis is away: rate limits are counted in the process',
    back: 'Redis is back: rate limits are shared again',
  });
  return {
    orElse: (inRedis, inProcess) => redis.ask(inRedis, inProcess, (error) => error instanceof RateLimitExceeded),
    degraded: redis.isAway,
  };
};
