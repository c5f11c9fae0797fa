import { once } from 'node:events';
import { type Cluster, Redis } from 'ioredis';
import type { Logger } from 'pino';
import { reasonOf } from '../../adapters/redaction/redact-error.ts';
import { withResponseTimeout } from '../../adapters/resilience/response-timeout.ts';
import { connectCluster } from './cluster.ts';
import { limitResponseTime } from './response-time.ts';

export type RedisClient = Redis | Cluster;

/** Milliseconds that a command of the rate limits may take. Afterwards, the process counts by itself. */
const LIMITS_TIMEOUT = 250;

/** After a failover, the old master refuses writes but keeps its connections. The address may already lead to the new one. */
const isReadOnly = ({ message }: Error): boolean => message.startsWith('READONLY ');

const retryStrategy = (attempt: number): number => Math.min(attempt * 100, 1_000);

export type ConnectionOptions = {
  /** Milliseconds. */
  readonly commandTimeout?: number;
  /** Whether the URL of one server is that of a node of a cluster. Several URLs always are. */
  readonly asCluster?: boolean;
};

/**
 * A connection that fails fast, reconnects by itself, and never sends a command twice.
 * @param urls one server, or several nodes of one cluster, whose URLs differ only in their hosts.
 */
export const connectRedis = (
  urls: readonly string[],
  logger: Logger,
  { commandTimeout = LIMITS_TIMEOUT, asCluster = urls.length > 1 }: ConnectionOptions = {},
): RedisClient => {
  const options = { maxRetriesPerRequest: 0 };
  const [url = ''] = urls;
  const redis = asCluster
    ? connectCluster(urls.map(nodeOf), { ...options, ...accessOf(url) }, retryStrategy)
    : new Redis(url, { ...options, enableOfflineQueue: false, retryStrategy, reconnectOnError: isReadOnly });
  limitResponseTime(redis, commandTimeout);
  logFailures(redis, logger);
  return redis;
};

/** Logs each reason once in an outage at `warn`: errors of commands do not tell why there is no connection. */
const logFailures = (redis: RedisClient, logger: Logger): void => {
  let logged = new Set<string>();
  redis.on('ready', () => {
    logged = new Set();
  });
  redis.on('error', (error) => {
    const reason = reasonOf(error);
    logger[logged.has(reason) ? 'debug' : 'warn']({ err: error }, 'the connection to Redis failed');
    logged.add(reason);
  });
};

/** Resolves when a new connection is ready. Rejects when it fails, or is not ready after `timeout` milliseconds. */
export const awaitRedis = async (redis: RedisClient, timeout: number): Promise<void> => {
  await withResponseTimeout(timeout, once(redis, 'ready'), noResponse);
};

const noResponse = (): Error => Object.assign(new Error('no response'), { code: 'ETIMEDOUT' });

const nodeOf = (url: string): { host: string; port: number } => {
  const { hostname, port } = new URL(url);
  return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 6379) };
};

/** Credentials, TLS and address family, which are the same for every node of a cluster. */
const accessOf = (url: string) => {
  const { protocol, username, password, searchParams } = new URL(url);
  const family = searchParams.get('family');
  return {
    ...(username !== '' && { username: decodeURIComponent(username) }),
    ...(password !== '' && { password: decodeURIComponent(password) }),
    ...(family !== null && { family: Number(family) }),
    ...(protocol === 'rediss:' && { tls: {} }),
  };
};
