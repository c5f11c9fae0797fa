import { once } from 'node:events';
import { Cluster, Command, Redis } from 'ioredis';
import type { Logger } from 'pino';
import { reasonOf } from '../adapters/redaction/redact-error.ts';
import { onResponseTimeout, withResponseTimeout } from '../adapters/resilience/response-timeout.ts';

/** Milliseconds a command may take. Limits are counted without Redis when it is late; sessions are not found without it. */
const LIMITS_TIMEOUT = 250;
const SESSIONS_TIMEOUT = 2_000;
/** Milliseconds that the start waits for a Redis that the service can do without. */
const START_PATIENCE = 1_000;
/** Milliseconds within which a Redis has to be there that the service does not start without. */
const START_TIMEOUT = 5_000;
/** Milliseconds after which a cluster's nodes are asked anew which of them holds what. */
const SLOTS_INTERVAL = 2_000;

export type RedisClient = Redis | Cluster;

/**
 * Every command goes by this for its `commandTimeout`, those included that a connection begins with and those of a cluster's
 * nodes. With the plain timer of ioredis a Redis that has answered would count as away whenever this process is late.
 */
Command.prototype.setTimeout = function setTimeout(timeout: number): void {
  const cancel = onResponseTimeout(timeout, () => {
    if (!this.isSettled) this.reject(new Error('Command timed out'));
  });
  this.promise.then(cancel, cancel);
};

const retryStrategy = (attempt: number): number => Math.min(attempt * 100, 1_000);

/**
 * A connection that fails soon rather than wait, comes back by itself, and never sends a command twice.
 * @param urls one server, or several nodes of one cluster whose URLs differ in nothing but their hosts.
 */
export const connectRedis = (
  urls: readonly string[],
  logger: Logger,
  { commandTimeout = LIMITS_TIMEOUT } = {},
): RedisClient => {
  const options = { commandTimeout, maxRetriesPerRequest: 0 };
  const [url = ''] = urls;
  const redis =
    urls.length === 1
      ? new Redis(url, { ...options, enableOfflineQueue: false, retryStrategy })
      : new Cluster(urls.map(nodeOf), {
          redisOptions: { ...options, ...accessOf(url) },
          enableOfflineQueue: false,
          clusterRetryStrategy: retryStrategy,
          clusterNodeRetryStrategy: retryStrategy,
          // A command whose connection broke may have been carried out.
          retryDelayOnFailover: 0,
          slotsRefreshInterval: SLOTS_INTERVAL,
          // A certificate is made out to a name.
          dnsLookup: (address, callback) => callback(null, address),
        });
  redis.on('error', (error) => logger.debug({ err: error }, 'Redis connection'));
  return redis;
};

/** Waits a moment for a connection, so that a service beside its Redis begins with the shared count. */
export const awaitRedis = async (redis: RedisClient): Promise<void> => {
  await withResponseTimeout(START_PATIENCE, once(redis, 'ready'), noAnswer).catch(() => undefined);
};

/**
 * The same for the sessions, once it is there.
 * @throws Error that names REDIS_URL, and the reason.
 */
export const openRedis = async (urls: readonly string[], logger: Logger): Promise<RedisClient> => {
  const redis = connectRedis(urls, logger, { commandTimeout: SESSIONS_TIMEOUT });
  try {
    await withResponseTimeout(START_TIMEOUT, once(redis, 'ready'), noAnswer);
    return redis;
  } catch (error) {
    redis.disconnect();
    throw new Error(`The Redis of REDIS_URL cannot be reached: ${reasonOf(error)}`);
  }
};

const noAnswer = (): Error => Object.assign(new Error('no answer'), { code: 'ETIMEDOUT' });

const nodeOf = (url: string): { host: string; port: number } => {
  const { hostname, port } = new URL(url);
  return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 6379) };
};

/** What every node of a cluster asks of its clients. */
const accessOf = (url: string) => {
  const { protocol, username, password } = new URL(url);
  return {
    ...(username !== '' && { username: decodeURIComponent(username) }),
    ...(password !== '' && { password: decodeURIComponent(password) }),
    ...(protocol === 'rediss:' && { tls: {} }),
  };
};
