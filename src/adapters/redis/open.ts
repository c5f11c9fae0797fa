import { Cluster, type Redis } from 'ioredis';
import type { Logger } from 'pino';
import { reasonOf } from '../log/redact-error.ts';
import { connectMasters } from './cluster.ts';
import { awaitRedis, type ConnectionOptions, connectRedis, type RedisClient } from './connect.ts';
import { databaseNumberIn, isSentinelUrl } from './url.ts';

const START_TIMEOUT = 1_000;
const DOCTOR_TIMEOUTS = { timeout: 5_000, commandTimeout: 2_000 };

/**
 * Connects to Redis, and waits for the connection for a short time, so that limits are shared from the first request. If Redis is unavailable, the service
 * starts without it, and the client reconnects by itself.
 * @throws Error that names REDIS_URL if its database number cannot be used
 */
export const openOptionalRedis = async (urls: readonly string[], logger: Logger): Promise<RedisClient> =>
  (await open(urls, logger, { timeout: START_TIMEOUT })).redis;

/** Connects to Redis, and waits until it is ready. @throws Error that names REDIS_URL, and the reason */
export const openRedis = async (urls: readonly string[], logger: Logger): Promise<RedisClient> => {
  const { redis, failure } = await open(urls, logger, DOCTOR_TIMEOUTS);
  if (failure === undefined) return redis;
  redis.disconnect();
  throw new Error(`The Redis of REDIS_URL cannot be reached: ${reasonOf(failure)}`);
};

/** Connects, and connects again as to a cluster if the only server reports that it is a node of a cluster. @param options.timeout milliseconds to connect */
const open = async (
  urls: readonly string[],
  logger: Logger,
  options: ConnectionOptions & { readonly timeout: number },
): Promise<{ readonly redis: RedisClient; readonly failure?: unknown }> => {
  const redis = connectRedis(urls, logger, options);
  try {
    await awaitRedis(redis, options.timeout);
    if (redis instanceof Cluster) await connectMasters(redis);
    if (redis instanceof Cluster || urls.some(isSentinelUrl) || !isNodeOfCluster(await infoOf(redis))) return { redis };
  } catch (failure) {
    const message = failure instanceof Error ? failure.message : '';
    if (!message.startsWith('ERR SELECT is not allowed in cluster mode')) return { redis, failure };
    redis.disconnect();
    throw databaseNumberError();
  }
  redis.disconnect();
  if (!urls.every((url) => databaseNumberIn(url) === 0)) throw databaseNumberError();
  return open(urls, logger, { ...options, asCluster: true });
};

const databaseNumberError = (): Error =>
  new Error('The Redis of REDIS_URL is a cluster, where only database 0 is used: remove the number from the URL');

/** The report of the command INFO of one server, which has lines `name:value`. */
export type RedisInfo = ReadonlyMap<string, string>;

/** @returns an empty report if the user lacks the permission for INFO. CONFIG would say more, but many managed servers do not allow it. */
export const infoOf = async (redis: Redis): Promise<RedisInfo> => {
  const report = await redis.info().catch((error: Error) => {
    if (error.message.startsWith('NOPERM')) return '';
    throw error;
  });
  return new Map([...report.matchAll(/^(\w+):([^\r\n]*)/gm)].map(([, name = '', value = '']) => [name, value]));
};

export const isNodeOfCluster = (info: RedisInfo): boolean => info.get('cluster_enabled') === '1';

/**
 * The policy by which the server deletes keys when its memory is full, and how many keys it has deleted so far; `null` for `noeviction` or no policy, and
 * if `maxmemory` is 0 (no limit) and no key was deleted. Every other policy may delete keys of the service, since all of them expire.
 */
export const evictionOf = (info: RedisInfo): { readonly policy: string; readonly evicted: number } | null => {
  const policy = info.get('maxmemory_policy') ?? 'noeviction';
  const evicted = Number(info.get('evicted_keys') ?? 0);
  const isBounded = info.get('maxmemory') !== '0' || evicted > 0;
  return policy !== 'noeviction' && isBounded ? { policy, evicted } : null;
};
