import type { Cluster, Redis } from 'ioredis';

type Script = { readonly lua: string; readonly numberOfKeys: number };
type Reply = readonly [remaining: number, secondsToWait: number, limit: number];
/** What koa-ratelimit's Redis driver calls on its `db`: it defines its script, and runs it for each request. */
type DriverDb = {
  defineCommand(name: 'ratelimiter', script: Script): void;
  ratelimiter?(key: string, now: number, window: number, limit: number, peek: string): Promise<Reply>;
};

/**
 * Runs the driver's script with the time of Redis, which all instances share, instead of the caller's. The script keeps the
 * times of a key's requests in a sorted set, in milliseconds. Its second reply, epoch seconds by the caller's clock, is replaced
 * by the whole seconds after which a refused request may be repeated.
 */
const byClockOfRedis = (driver: string): string => `
  local time = redis.call('time')
  local now, window = time[1] * 1000 + time[2] / 1000, ARGV[2]
  -- After Redis' clock was set back, earlier entries would stay for that much longer than a window.
  redis.call('zremrangebyscore', KEYS[1], string.format('(%.17g', now), '+inf')
  local function count(ARGV) ${driver} end
  local reply = count({ now, window, ARGV[3], ARGV[4] })
  if reply[1] == 0 then
    local oldest = redis.call('zrange', KEYS[1], 0, 0)[1]
    reply[2] = math.ceil((oldest + window - now) / 1000)
  end
  return reply`;

/** A `db` for koa-ratelimit that counts by the clock of Redis. Its script has one key, so a cluster can run it. */
export const redisClockDb = (redis: Redis | Cluster): DriverDb => ({
  defineCommand(name, { lua, numberOfKeys }) {
    redis.defineCommand(name, { lua: byClockOfRedis(lua), numberOfKeys });
    this.ratelimiter = Reflect.get(redis, name).bind(redis);
  },
});
