import type { Logger } from 'pino';
import { memoryLoginAttempts } from '../../adapters/login-attempts/memory.ts';
import { redisLoginAttempts } from '../../adapters/login-attempts/redis.ts';
import { sharedLoginAttempts } from '../../adapters/login-attempts/shared.ts';
import type { LoginAttempts } from '../../application/ports/login-attempts.ts';
import type { RedisClient } from '../redis.ts';

/** Shared by all instances through Redis; counted in the process without one, or while it is unavailable. */
export const countLoginAttempts = (redis: RedisClient | null, logger: Logger): LoginAttempts => {
  const own = memoryLoginAttempts();
  return redis === null ? own : sharedLoginAttempts({ shared: redisLoginAttempts(redis), own }, logger);
};
