import type { ClientContext, Cluster, Redis, Result } from 'ioredis';
import { EARLIER_TOKENS_KEPT, type RotationOutcome, SESSIONS_PER_USER } from '../../domain/session.ts';

/**
 * Scripts that Redis runs atomically on one key: a hash of the sessions of one user. The name of a field is the session's id, its
 * value the rest as JSON. Numbers are stored as strings, since Lua would write large ones with an exponent, and members that are
 * `null` are left out. Times are epoch milliseconds.
 */
const SCRIPTS = {
  /** ARGV: id, session, its time of creation. Removes expired sessions, and the least recently used ones beyond the limit, whose ids it returns. */
  addSession: `
    if redis.call('hexists', KEYS[1], ARGV[1]) == 1 then return nil end
    redis.call('hset', KEYS[1], ARGV[1], ARGV[2])
    local live, last = {}, 0
    local fields = redis.call('hgetall', KEYS[1])
    for at = 1, #fields, 2 do
      local session = cjson.decode(fields[at + 1])
      local expiresAt = tonumber(session.expiresAt)
      if expiresAt <= tonumber(ARGV[3]) then
        redis.call('hdel', KEYS[1], fields[at])
      else
        live[#live + 1] = { id = fields[at], usedAt = tonumber(session.rotatedAt) }
        last = math.max(last, expiresAt)
      end
    end
    table.sort(live, function(a, b)
      if a.usedAt ~= b.usedAt then return a.usedAt > b.usedAt end
      return a.id > b.id
    end)
    local surplus = {}
    for at = ${SESSIONS_PER_USER} + 1, #live do
      redis.call('hdel', KEYS[1], live[at].id)
      surplus[#surplus + 1] = live[at].id
    end
    redis.call('pexpireat', KEYS[1], string.format('%.0f', last))
    return surplus`,
  /** ARGV: id, from, to, at, expiresAt, racesSince, and the deadline on the clock of this Redis. */
  rotateSession: `
    local time = redis.call('time')
    local now = time[1] * 1000 + time[2] / 1000
    if now >= tonumber(ARGV[7]) then return 'too-late' end
    local stored = redis.call('hget', KEYS[1], ARGV[1])
    if not stored then return 'stale' end
    local session = cjson.decode(stored)
    if session.currentTokenId ~= ARGV[2] or tonumber(session.expiresAt) <= tonumber(ARGV[4]) then return 'stale' end
    local earlier
    if session.previousTokenId and tonumber(session.rotatedAt) >= tonumber(ARGV[6]) then
      earlier = session.earlierTokens or {}
      table.insert(earlier, 1, { tokenId = session.previousTokenId, rotatedAt = session.rotatedAt })
      earlier[${EARLIER_TOKENS_KEPT} + 1] = nil
    end
    session.earlierTokens = earlier
    session.currentTokenId, session.previousTokenId, session.rotatedAt, session.expiresAt =
      ARGV[3], ARGV[2], ARGV[4], ARGV[5]
    redis.call('hset', KEYS[1], ARGV[1], cjson.encode(session))
    if now + redis.call('pttl', KEYS[1]) < tonumber(ARGV[5]) then redis.call('pexpireat', KEYS[1], ARGV[5]) end
    return 'rotated'`,
  /** ARGV: id, from, to. */
  revertSession: `
    local stored = redis.call('hget', KEYS[1], ARGV[1])
    if not stored then return 0 end
    local session = cjson.decode(stored)
    if session.currentTokenId ~= ARGV[3] then return 0 end
    session.currentTokenId = ARGV[2]
    redis.call('hset', KEYS[1], ARGV[1], cjson.encode(session))
    return 1`,
  /** ARGV: the id of the only session to keep. Returns the ids of the others. */
  endSessions: `
    local kept = redis.call('hget', KEYS[1], ARGV[1])
    local ended = {}
    for _, id in ipairs(redis.call('hkeys', KEYS[1])) do
      if id ~= ARGV[1] then ended[#ended + 1] = id end
    end
    redis.call('del', KEYS[1])
    if kept then
      redis.call('hset', KEYS[1], ARGV[1], kept)
      redis.call('pexpireat', KEYS[1], cjson.decode(kept).expiresAt)
    end
    return ended`,
  /** The time of the node that stores the key: seconds, and microseconds within the second. */
  timeAtSessions: `return redis.call('time')`,
};

declare module 'ioredis' {
  interface RedisCommander<Context extends ClientContext> {
    addSession(key: string, id: string, session: string, createdAt: number): Result<string[] | null, Context>;
    rotateSession(key: string, ...values: (string | number)[]): Result<RotationOutcome, Context>;
    revertSession(key: string, id: string, from: string, to: string): Result<number, Context>;
    endSessions(key: string, keptId: string): Result<string[], Context>;
    timeAtSessions(key: string): Result<[seconds: string, microseconds: string], Context>;
  }
}

/** Defines the scripts as commands of this client, which loads them into Redis when they are missing there. */
export const defineSessionCommands = (redis: Redis | Cluster): void => {
  for (const [name, lua] of Object.entries(SCRIPTS)) redis.defineCommand(name, { lua, numberOfKeys: 1 });
};
