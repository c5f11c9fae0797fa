import { Redis } from 'ioredis';
import type { Logger } from 'pino';

/** Milliseconds a command may take; without Redis a request goes on without it. */
const COMMAND_TIMEOUT = 250;

/** A connection that fails soon rather than wait, and comes back by itself. */
export const connectRedis = (url: string, logger: Logger): Redis => {
  const redis = new Redis(url, {
    commandTimeout: COMMAND_TIMEOUT,
    maxRetriesPerRequest: 0,
    enableOfflineQueue: false,
    retryStrategy: (attempt) => Math.min(attempt * 100, 1000),
  });
  redis.on('error', (error) => logger.debug({ err: error }, 'Redis connection'));
  return redis;
};
