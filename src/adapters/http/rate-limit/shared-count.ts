import type { Logger } from 'pino';
import { RateLimitExceeded } from '../exceptions.ts';

/** Milliseconds during which a Redis that failed is not asked again, so that a frozen one delays few requests. */
const PAUSE = 1000;

export type SharedCount = {
  /** Counts in Redis, or in the process while Redis is away. */
  orElse(inRedis: () => Promise<void>, inProcess: () => Promise<void>): Promise<void>;
  /** Whether the process counts for itself, although it should not. */
  degraded(): boolean;
};

/** Follows whether the shared count can be had, and logs each change of it once. */
export const sharedCount = (logger: Logger): SharedCount => {
  let pausedUntil = 0;
  let degraded = false;
  const mark = (now: boolean, say: () => void): void => {
    if (degraded !== now) say();
    degraded = now;
  };
  return {
    async orElse(inRedis, inProcess) {
      if (performance.now() < pausedUntil) return inProcess();
      try {
        await inRedis();
      } catch (error) {
        if (!(error instanceof RateLimitExceeded)) {
          pausedUntil = performance.now() + PAUSE;
          mark(true, () => logger.warn({ err: error }, 'Redis is away: rate limits are counted in the process'));
          return inProcess();
        }
        mark(false, () => logger.info('Redis is back: rate limits are shared again'));
        throw error;
      }
      mark(false, () => logger.info('Redis is back: rate limits are shared again'));
    },
    degraded: () => degraded,
  };
};
