import type { Cluster, Redis } from 'ioredis';
import type { Limit } from '../limits/limit.ts';
import { ODD_REPLY } from '../log/safe-messages.ts';

type Bound = NonNullable<Limit>;

/** Counts a request for a key. @returns `null` for an admitted request, or the milliseconds to wait. */
export type RedisCount = (key: string, limit: Bound) => Promise<number | null>;

/** The requests of one key that wait for the same command. */
type KeyRequests = {
  readonly key: string;
  readonly limit: Bound;
  readonly requests: PromiseWithResolvers<number | null>[];
};

/** For each key: how many of its requests are admitted, and the milliseconds that the others have to wait. */
type Reply = readonly [admitted: number, wait: number][];
type Send = (numberOfKeys: number, ...keysAndArguments: (string | number)[]) => Promise<unknown>;

const COMMAND = 'tandemCountRequests';
/** Requests in one command: Redis serves no other client meanwhile. */
const MAX_REQUESTS = 256;

/**
 * Each key is a sorted set of the times of its admitted requests, in milliseconds of the clock of Redis, which all instances share. The
 * requests of one command get times 1/2048 ms apart: until the year 2109, a double can represent that step, and the loop ends.
 */
const SCRIPT = `
  local time = redis.call('time')
  local now = time[1] * 1000 + time[2] / 1000
  local reply = {}
  for at, key in ipairs(KEYS) do
    local limit, window, requests = tonumber(ARGV[3 * at - 2]), tonumber(ARGV[3 * at - 1]), tonumber(ARGV[3 * at])
    redis.call('zremrangebyscore', key, '-inf', now - window)
    -- After Redis' clock was set back, earlier entries would stay for that much longer than a window.
    redis.call('zremrangebyscore', key, now + 1, '+inf')
    local admitted = math.max(0, math.min(requests, limit - redis.call('zcard', key)))
    local moment = now
    for _ = 1, admitted do
      while redis.call('zadd', key, moment, moment) == 0 do moment = moment + 1 / 2048 end
    end
    local wait = 0
    if admitted > 0 then redis.call('pexpire', key, window) end
    if admitted < requests then wait = math.ceil(redis.call('zrange', key, 0, 0)[1] + window - now) end
    reply[at] = { admitted, wait }
  end
  return reply`;

/** Counts in Redis. The requests of one turn of the event loop share a command; on a cluster, those of one key. */
export const redisCount = (redis: Redis | Cluster): RedisCount => {
  redis.defineCommand(COMMAND, { lua: SCRIPT });
  const send: Send = Reflect.get(redis, COMMAND).bind(redis);
  let waiting = new Map<string, KeyRequests>();
  let requests = 0;
  const sendWaiting = (): void => {
    if (requests === 0) return;
    const all = [...waiting.values()];
    waiting = new Map();
    requests = 0;
    // The keys of a command have to be in one slot of a cluster.
    for (const some of redis.isCluster ? all.map((each) => [each]) : [all]) settle(some, send);
  };
  return (key, limit) => {
    if (requests === 0) setImmediate(sendWaiting);
    const ofKey = waiting.get(key) ?? { key, limit, requests: [] };
    waiting.set(key, ofKey);
    const request = Promise.withResolvers<number | null>();
    ofKey.requests.push(request);
    requests += 1;
    if (requests === MAX_REQUESTS) sendWaiting();
    return request.promise;
  };
};

/** Sends one command, and settles its requests in the order in which they came. */
const settle = async (all: readonly KeyRequests[], send: Send): Promise<void> => {
  try {
    const keys = all.map(({ key }) => key);
    const numbers = all.flatMap(({ limit, requests }) => [limit.requests, limit.window, requests.length]);
    const reply = await send(keys.length, ...keys, ...numbers);
    if (!isReply(reply, all)) throw new Error(ODD_REPLY);
    all.forEach(({ requests }, at) => {
      const [admitted = 0, wait = 0] = reply[at] ?? [];
      for (const [index, request] of requests.entries()) request.resolve(index < admitted ? null : wait);
    });
  } catch (error) {
    // A proxy hides the nodes of a cluster. Nothing has been counted: send each key in a command of its own.
    if (all.length > 1 && isCrossSlot(error)) for (const each of all) settle([each], send);
    else for (const { requests } of all) for (const request of requests) request.reject(error);
  }
};

/** Something that is not Redis, or changes its replies, must not decide who is refused. */
const isReply = (reply: unknown, all: readonly KeyRequests[]): reply is Reply =>
  Array.isArray(reply) &&
  reply.length === all.length &&
  all.every(({ limit, requests: { length } }, at) => {
    const [admitted, wait, ...more] = Array.isArray(reply[at]) ? reply[at] : [];
    if (!Number.isInteger(admitted) || !Number.isInteger(wait) || more.length > 0) return false;
    // A request that is refused has to wait, for a window at most and the fraction of a millisecond by which times are ahead.
    return admitted === length
      ? wait === 0
      : admitted >= 0 && admitted < length && wait > 0 && wait <= limit.window + 2;
  });

const isCrossSlot = (error: unknown): boolean => error instanceof Error && error.message.startsWith('CROSSSLOT');
