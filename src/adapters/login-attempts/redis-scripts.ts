import type { ClientContext, Cluster, Redis, Result } from 'ioredis';
import { FIRST_WAIT, FREE_FAILURES, LONGEST_WAIT, MEMORY, REGULAR_AFTER } from '../../domain/login-throttle.ts';

/**
 * The rule of domain/login-throttle.ts within Redis, atomically and on one key: a hash of `failures`, of the slots `newcomer`
 * and `regular` ("opensAt wait"), and of each network ("failures lastAt"). It goes by itself.
 * ARGV: the network, and the time in epoch milliseconds, where it is not that of Redis.
 */
const COMMON = `
  local key, network = KEYS[1], 'network ' .. ARGV[1]
  local time = redis.call('time')
  local now = tonumber(ARGV[2]) or time[1] * 1000 + math.floor(time[2] / 1000)
  local function numbers(text)
    local first, second = string.match(text or '', '^(%d+) (%d+)$')
    return tonumber(first) or 0, tonumber(second) or 0
  end
  local function read(field) return numbers(redis.call('hget', key, field) or '') end
  local function write(field, first, second)
    redis.call('hset', key, field, string.format('%.0f %.0f', first, second))
  end
  local function guest(failed) return failed < ${REGULAR_AFTER} and 'newcomer' or 'regular' end
  local failed, failedAt = read(network)
  if now - failedAt >= ${MEMORY} then failed = 0 end`;

const SCRIPTS = {
  beginLogin: `${COMMON}
    local slot = guest(failed)
    local opensAt, wait = read(slot)
    if opensAt > now and opensAt - now <= wait then return opensAt - now end
    local fields = redis.call('hgetall', key)
    for at = 1, #fields, 2 do
      local _, lastAt = numbers(fields[at + 1])
      if string.sub(fields[at], 1, 8) == 'network ' and now - lastAt >= ${MEMORY} then
        redis.call('hdel', key, fields[at])
      end
    end
    local failures = redis.call('hincrby', key, 'failures', 1)
    write(network, failed + 1, now)
    if failures == ${FREE_FAILURES} then
      write('newcomer', now + ${FIRST_WAIT}, ${FIRST_WAIT})
      write('regular', now + ${FIRST_WAIT}, ${FIRST_WAIT})
    elseif failures > ${FREE_FAILURES} then
      wait = math.min(${LONGEST_WAIT}, 2 * wait)
      write(slot, now + wait, wait)
    end
    redis.call('pexpire', key, ${MEMORY})
    return 0`,
  withdrawLogin: `${COMMON}
    local failures = tonumber(redis.call('hget', key, 'failures') or 0)
    if failures == 0 then return 0 end
    redis.call('hset', key, 'failures', failures - 1)
    if failed <= 1 then redis.call('hdel', key, network) else write(network, failed - 1, failedAt) end
    if failures == ${FREE_FAILURES} then
      redis.call('hdel', key, 'newcomer', 'regular')
    elseif failures > ${FREE_FAILURES} then
      local slot = guest(failed - 1)
      local _, wait = read(slot)
      write(slot, 0, math.max(${FIRST_WAIT}, wait / 2))
    end
    return 1`,
};

declare module 'ioredis' {
  interface RedisCommander<Context extends ClientContext> {
    beginLogin(key: string, network: string, now?: number): Result<number, Context>;
    withdrawLogin(key: string, network: string, now?: number): Result<number, Context>;
  }
}

/** Makes them commands of this client; it sends a script's text where Redis does not have it yet. */
export const defineLoginCommands = (redis: Redis | Cluster): void => {
  for (const [name, lua] of Object.entries(SCRIPTS)) redis.defineCommand(name, { lua, numberOfKeys: 1 });
};
