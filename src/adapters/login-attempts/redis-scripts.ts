import type { ClientContext, Cluster, Redis, Result } from 'ioredis';
import {
  FIRST_WAIT,
  FREE_FAILURES,
  LIMITS,
  LONGEST_WAIT,
  MEMORY,
  PARTY_LIMIT,
  type Party,
} from '../../domain/login-throttle.ts';

const table = (numbers: readonly number[]): string => `{${numbers.join(', ')}}`;

/**
 * The rule of domain/login-throttle.ts as a script, which Redis runs atomically on one key: a hash with a field for each party
 * ("failures lastAt") and for each turn ("takenAt"). The key expires.
 * ARGV: the kind of the party, its text, and the time in epoch milliseconds; without it, the time of Redis.
 */
const COMMON = `
  local key, kind, party = KEYS[1], ARGV[1], ARGV[2]
  local time = redis.call('time')
  local now = tonumber(ARGV[3]) or time[1] * 1000 + math.floor(time[2] / 1000)
  local limits = ({network = ${table(LIMITS.network)}, device = ${table(LIMITS.device)}})[kind]

  local failures, turns = {}, {}
  local fields = redis.call('hgetall', key)
  for at = 1, #fields, 2 do
    local field, value = fields[at], fields[at + 1]
    local failed, lastAt = string.match(value, '^(%d+) (%d+)$')
    local takenAt = string.match(value, '^%d+$')
    if now - (tonumber(lastAt or takenAt) or 0) >= ${MEMORY} then
      redis.call('hdel', key, field)
    elseif string.sub(field, 1, 6) == 'party ' then
      failures[string.sub(field, 7)] = tonumber(failed)
    elseif string.sub(field, 1, 5) == 'turn ' then
      turns[string.sub(field, 6)] = tonumber(takenAt)
    end
  end

  local function groups_of(text)
    local groups = {}
    for stop in string.gmatch(text, '() ') do groups[#groups + 1] = string.sub(text, 1, stop) end
    return groups
  end
  local function count_by_group()
    local count = {}
    for text, failed in pairs(failures) do
      for _, group in ipairs(groups_of(text)) do
        count[group] = (count[group] or 0) + math.min(failed, ${PARTY_LIMIT})
      end
    end
    return count
  end
  local function turn_of(text, count)
    local groups = groups_of(text)
    for at, group in ipairs(groups) do
      if (count[group] or 0) >= limits[#limits - #groups + at] then return group end
    end
    return ''
  end
  local function failing_parties(turn, count)
    if turn == '' then return 1 end
    local seen, shares = {[''] = true}, 0
    for text in pairs(failures) do
      local each = turn_of(text, count)
      if not seen[each] then
        seen[each] = true
        shares = shares + 1
      end
    end
    return shares
  end
  local function take(turn) redis.call('hset', key, 'turn ' .. turn, string.format('%.0f', now)) end`;

const SCRIPTS = {
  /** Returns the wait in milliseconds; 0 when the attempt is admitted. */
  beginLogin: `${COMMON}
    local total, count = 0, count_by_group()
    for _, failed in pairs(failures) do total = total + failed end
    local turn = turn_of(party, count)
    if total >= ${FREE_FAILURES} and not (kind == 'device' and turn == '') and turns[turn] then
      local wait = math.min(${LONGEST_WAIT}, ${FIRST_WAIT} * 2 ^ (total - ${FREE_FAILURES})) * failing_parties(turn, count)
      local since = now - turns[turn]
      if since >= 0 and since < wait then return wait - since end
    end
    failures[party] = (failures[party] or 0) + 1
    redis.call('hset', key, 'party ' .. party, string.format('%.0f %.0f', failures[party], now))
    take(turn)
    take(turn_of(party, count_by_group()))
    redis.call('pexpire', key, ${MEMORY})
    return 0`,
  /** ARGV[4]: 1 when the password was right, 0 when the attempt is withdrawn. */
  settleLogin: `${COMMON}
    if not failures[party] then return 0 end
    failures[party] = failures[party] - 1
    redis.call('hdel', key, 'turn ' .. turn_of(party, count_by_group()))
    if ARGV[4] == '1' or failures[party] == 0 then
      redis.call('hdel', key, 'party ' .. party)
    else
      local lastAt = string.match(redis.call('hget', key, 'party ' .. party), '%d+$')
      redis.call('hset', key, 'party ' .. party, string.format('%.0f %s', failures[party], lastAt))
    end
    return 1`,
};

declare module 'ioredis' {
  interface RedisCommander<Context extends ClientContext> {
    beginLogin(key: string, kind: Party['kind'], party: string, now: number | ''): Result<number, Context>;
    settleLogin(
      key: string,
      kind: Party['kind'],
      party: string,
      now: number | '',
      isRight: 0 | 1,
    ): Result<number, Context>;
  }
}

/** Defines the scripts as commands of this client, which loads them into Redis when they are missing there. */
export const defineLoginCommands = (redis: Redis | Cluster): void => {
  for (const [name, lua] of Object.entries(SCRIPTS)) redis.defineCommand(name, { lua, numberOfKeys: 1 });
};
