import type { ClientContext, Cluster, Redis, Result } from 'ioredis';

/**
 * What runs within Redis, each of them atomically and on one key: the session, a hash of the fields of `Session`. A field that
 * is `null` is not there.
 */
const SCRIPTS = {
  /** ARGV: when the key goes (epoch milliseconds), then names and values. */
  addSession: `
    if redis.call('exists', KEYS[1]) == 1 then return 0 end
    redis.call('hset', KEYS[1], unpack(ARGV, 2))
    redis.call('pexpireat', KEYS[1], ARGV[1])
    return 1`,
  /** ARGV: from, to, at, expiresAt, deadline. Times are epoch milliseconds, the deadline's by the clock of this Redis. */
  rotateSession: `
    local time = redis.call('time')
    if time[1] * 1000 + time[2] / 1000 >= tonumber(ARGV[5]) then return 'late' end
    local current, expiresAt = unpack(redis.call('hmget', KEYS[1], 'currentTokenId', 'expiresAt'))
    if current ~= ARGV[1] or tonumber(expiresAt) <= tonumber(ARGV[3]) then return 'lost' end
    redis.call('hset', KEYS[1],
      'currentTokenId', ARGV[2], 'previousTokenId', ARGV[1], 'rotatedAt', ARGV[3], 'expiresAt', ARGV[4])
    redis.call('pexpireat', KEYS[1], ARGV[4])
    return 'won'`,
  /** ARGV: from, to. */
  revertSession: `
    if redis.call('hget', KEYS[1], 'currentTokenId') ~= ARGV[2] then return 0 end
    redis.call('hset', KEYS[1], 'currentTokenId', ARGV[1])
    redis.call('hdel', KEYS[1], 'previousTokenId')
    return 1`,
  /** The time of the Redis that holds the key: seconds, and microseconds of the next one. */
  timeAtSession: `return redis.call('time')`,
};

declare module 'ioredis' {
  interface RedisCommander<Context extends ClientContext> {
    addSession(key: string, ...values: (string | number)[]): Result<number, Context>;
    rotateSession(key: string, ...values: (string | number)[]): Result<'won' | 'lost' | 'late', Context>;
    revertSession(key: string, from: string, to: string): Result<number, Context>;
    timeAtSession(key: string): Result<[seconds: string, microseconds: string], Context>;
  }
}

/** Makes them commands of this client; it sends a script's text where Redis does not have it yet. */
export const defineSessionCommands = (redis: Redis | Cluster): void => {
  for (const [name, lua] of Object.entries(SCRIPTS)) redis.defineCommand(name, { lua, numberOfKeys: 1 });
};
