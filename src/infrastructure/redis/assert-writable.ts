import type { Redis } from 'ioredis';

/**
 * A script that may write, and does not. Redis 7 makes the same checks before it runs as before a write: NOREPLICAS, READONLY, OOM
 * and MISCONF.
 */
const MAY_WRITE = '#!lua\nreturn 1';

/** Rejects unless this server responds and would accept a write. Redis 6 only shows that it responds. */
export const assertWritable = async (redis: Redis): Promise<void> => {
  await redis.eval(MAY_WRITE, 0).catch(unlessShebangIsUnknown);
};

/** The reply of Redis 6, for which the first line is not Lua. */
const unlessShebangIsUnknown = (error: unknown): void => {
  if (error instanceof Error && error.message.startsWith('ERR Error compiling script')) return;
  throw error;
};
