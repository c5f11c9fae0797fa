import { once } from 'node:events';
import { Cluster, Command, Redis } from 'ioredis';
import type { Logger } from 'pino';
import { reasonOf } from '../adapters/redaction/redact-error.ts';
import { onResponseTimeout, withResponseTimeout } from '../adapters/resilience/response-timeout.ts';

/** Milliseconds a command may take. Limits are counted in the process when Redis is late; sessions cannot be read without it. */
const LIMITS_TIMEOUT = 250;
const SESSIONS_TIMEOUT = 2_000;
/** Milliseconds that the start waits for a Redis that is optional. */
const OPTIONAL_START_TIMEOUT = 1_000;
/** Milliseconds that the start waits for a Redis that is required. */
const START_TIMEOUT = 5_000;
/** Milliseconds between two refreshes of a cluster's slots. */
const SLOTS_INTERVAL = 2_000;

export type RedisClient = Redis | Cluster;

/**
 * Implements `commandTimeout` for every command, including those that open a connection and those of a cluster's nodes. The plain
 * timer of ioredis would report a time-out for a response that has arrived when this process is busy.
 */
Command.prototype.setTimeout = function setTimeout(timeout: number): void {
  const cancel = onResponseTimeout(timeout, () => {
    if (!this.isSettled) this.reject(new Error('Command timed out'));
  });
  this.promise.then(cancel, cancel);
};

const retryStrategy = (attempt: number): number => Math.min(attempt * 100, 1_000);

/**
 * A connection that fails fast, reconnects by itself, and never sends a command twice.
 * @param urls one server, or several nodes of one cluster, whose URLs differ only in their hosts.
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
          // A command whose connection broke may have been executed.
          retryDelayOnFailover: 0,
          slotsRefreshInterval: SLOTS_INTERVAL,
          // TLS verifies the name, not the address.
          dnsLookup: (address, callback) => callback(null, address),
        });
  redis.on('error', (error) => logger.debug({ err: error }, 'the connection to Redis failed'));
  return redis;
};

/** Waits a moment for the connection, so that limits are shared from the first request. */
export const awaitRedis = async (redis: RedisClient): Promise<void> => {
  await withResponseTimeout(OPTIONAL_START_TIMEOUT, once(redis, 'ready'), noResponse).catch(() => undefined);
};

/**
 * Connects to the Redis of the sessions, and waits until it is ready.
 * @throws Error that names REDIS_URL, and the reason.
 */
export const openRedis = async (urls: readonly string[], logger: Logger): Promise<RedisClient> => {
  const redis = connectRedis(urls, logger, { commandTimeout: SESSIONS_TIMEOUT });
  try {
    await withResponseTimeout(START_TIMEOUT, once(redis, 'ready'), noResponse);
    return redis;
  } catch (error) {
    redis.disconnect();
    throw new Error(`The Redis of REDIS_URL cannot be reached: ${reasonOf(error)}`);
  }
};

const noResponse = (): Error => Object.assign(new Error('no response'), { code: 'ETIMEDOUT' });

const nodeOf = (url: string): { host: string; port: number } => {
  const { hostname, port } = new URL(url);
  return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 6379) };
};

/** Credentials and TLS, which are the same for every node of a cluster. */
const accessOf = (url: string) => {
  const { protocol, username, password } = new URL(url);
  return {
    ...(username !== '' && { username: decodeURIComponent(username) }),
    ...(password !== '' && { password: decodeURIComponent(password) }),
    ...(protocol === 'rediss:' && { tls: {} }),
  };
};
