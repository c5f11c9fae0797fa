import type { ClientContext, Cluster, Redis, Result } from 'ioredis';
import type { Counts } from '../limits/counts.ts';
import { LoggableError } from '../log/redact-error.ts';

/** Lua scripts. They use the clock of Redis, so that all instances agree on the end of a window. */
const SCRIPTS = {
  tandemCountRequest: `
    local count, left = redis.call('incr', KEYS[1]), redis.call('pttl', KEYS[1])
    -- The key is new, or its end is too far away, for instance because the clock of Redis was set back.
    if left < 0 or left > tonumber(ARGV[1]) then
      left = tonumber(ARGV[1])
      redis.call('pexpire', KEYS[1], left)
    end
    return { count, left }`,
  tandemReplace: `
    local text = redis.call('get', KEYS[1]) or ''
    if text ~= ARGV[1] then
      local time = redis.call('time')
      return { text, time[1] * 1000 + math.floor(time[2] / 1000) }
    end
    if ARGV[2] == '' then redis.call('del', KEYS[1]) else redis.call('set', KEYS[1], ARGV[2], 'px', ARGV[3]) end
    return 'replaced'`,
};

declare module 'ioredis' {
  interface RedisCommander<Context extends ClientContext> {
    tandemCountRequest(key: string, window: number): Result<[count: number, left: number], Context>;
    tandemReplace(
      key: string,
      former: string,
      text: string,
      ttl: number,
    ): Result<'replaced' | [text: string, now: number], Context>;
  }
}

/** Counts in Redis, for all instances. Its calls reject while Redis is unavailable. */
export const redisCounts = (redis: Redis | Cluster): Counts => {
  for (const [name, lua] of Object.entries(SCRIPTS)) redis.defineCommand(name, { lua, numberOfKeys: 1 });
  return {
    async countRequest(key, window) {
      const [count, left] = await redis.tandemCountRequest(key, window);
      assertReply(Number.isInteger(count) && Number.isInteger(left));
      return { count, left };
    },
    async replace(...given) {
      const reply = await redis.tandemReplace(...given);
      if (reply === 'replaced') return null;
      const [text, now] = reply;
      assertReply(typeof text === 'string' && Number.isInteger(now));
      return { text, now };
    },
  };
};

/** A reply of another form is not from the script, perhaps not from Redis, and must not decide whether a request is refused. */
const assertReply = (hasForm: boolean): void => {
  if (!hasForm) throw new LoggableError('a reply that is not that of the script');
};
