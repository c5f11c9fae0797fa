import { once } from 'node:events';
import { Cluster, Redis, type RedisOptions } from 'ioredis';
import type { Logger } from 'pino';
import { onResponseTimeout, withResponseTimeout } from '../limits/response-timeout.ts';
import { LoggableError, reasonOf } from '../log/redact-error.ts';
import { leafSpan } from '../tracing/spans.ts';
import { connectCluster } from './cluster.ts';
import { databaseIn, hostOf, isSentinelUrl, masterIn } from './url.ts';

export type RedisClient = Redis | Cluster;

/** Milliseconds that a command of the rate limits may take. Afterwards, the process counts by itself. */
const LIMITS_TIMEOUT = 250;

/** Milliseconds without a reply after which a connection is closed: the server may be gone, and another one be the master. */
const SILENCE = 5_000;

/** After a failover, the old master refuses writes but keeps its connections. The address may already lead to the new one. */
const isReadOnly = ({ message }: Error): boolean => message.startsWith('READONLY ');

const retryStrategy = (attempt: number): number => Math.min(attempt * 100, 1_000);

export type ConnectionOptions = {
  /** Milliseconds. */
  readonly commandTimeout?: number;
  /** Whether the URL of one server is that of a node of a cluster. Several URLs are, unless they lead to sentinels. */
  readonly asCluster?: boolean;
};

/**
 * A connection that fails fast, reconnects by itself, and never sends a command twice.
 * @param urls one server, several nodes of one cluster, or sentinels, whose URLs differ only in their hosts.
 */
export const connectRedis = (
  urls: readonly string[],
  logger: Logger,
  { commandTimeout = LIMITS_TIMEOUT, asCluster = isCluster(urls) }: ConnectionOptions = {},
): RedisClient => {
  const [url = ''] = urls;
  const options = { ...accessOf(url), maxRetriesPerRequest: 0, socketTimeout: SILENCE };
  const retries = { retryStrategy, sentinelRetryStrategy: retryStrategy, reconnectOnError: isReadOnly };
  const redis = asCluster
    ? connectCluster(addressesOf(urls), options, retryStrategy)
    : new Redis({ ...options, ...retries, enableOfflineQueue: false, ...serverOf(urls) });
  limitResponseTime(redis, commandTimeout);
  logFailures(redis, logger);
  return redis;
};

const isCluster = (urls: readonly string[]): boolean => urls.length > 1 && !urls.some(isSentinelUrl);

/** Milliseconds. A machine that is gone must not keep the others from being asked. */
const SENTINEL_TIMEOUTS = { connectTimeout: 2_000, sentinelCommandTimeout: 1_000 };

/** The hosts of REDIS_URL: a server, nodes of a cluster, or sentinels. */
const addressesOf = (urls: readonly string[]) =>
  urls.map((text) => {
    const url = new URL(text);
    return { host: hostOf(url), port: Number(url.port || (isSentinelUrl(text) ? 26_379 : 6_379)) };
  });

/** Credentials, TLS and address family of Redis, which all URLs have in common. */
const accessOf = (url: string): Pick<RedisOptions, 'username' | 'password' | 'family' | 'tls'> => {
  const { username, password, searchParams } = new URL(url);
  const family = searchParams.get('family');
  return {
    ...(username !== '' && { username: decodeURIComponent(username) }),
    ...(password !== '' && { password: decodeURIComponent(password) }),
    ...(family !== null && { family: Number(family) }),
    ...(hasTls(url) && { tls: {} }),
  };
};

/** How one server is found: by its address, or by sentinels. */
const serverOf = (urls: readonly string[]): Omit<RedisOptions, 'replyMapping'> => {
  const [url = ''] = urls;
  const addresses = addressesOf(urls);
  const db = databaseIn(url);
  if (!isSentinelUrl(url)) return { ...addresses[0], db };
  const { searchParams } = new URL(url);
  return {
    ...SENTINEL_TIMEOUTS,
    db,
    name: masterIn(url),
    sentinels: addresses,
    sentinelUsername: searchParams.get('sentinel_username') ?? undefined,
    sentinelPassword: searchParams.get('sentinel_password') ?? undefined,
    ...(hasTls(url) && { enableTLSForSentinelMode: true, sentinelTLS: {} }),
  };
};

const hasTls = (url: string): boolean => new URL(url).protocol.startsWith('rediss');

/**
 * Rejects each command of the client that has no response after `timeout` milliseconds. The `commandTimeout` of ioredis is a plain timer: it
 * would reject commands whose response has arrived while this process was busy.
 */
const limitResponseTime = (redis: RedisClient, timeout: number): void => {
  if (redis instanceof Cluster) redis.on('+node', (node: Redis) => limitCommands(node, timeout));
  else limitCommands(redis, timeout);
};

const limitCommands = (redis: Redis, timeout: number): void => {
  const send = redis.sendCommand.bind(redis);
  redis.sendCommand = (command, stream) => {
    const cancel = onResponseTimeout(timeout, () => {
      if (!command.isSettled) command.reject(new Error('Command timed out'));
    });
    if (stream === undefined) writeTogether(redis.stream);
    const { name } = command;
    leafSpan(name, { 'db.system.name': 'redis', 'db.operation.name': name }, () => command.promise).then(
      cancel,
      cancel,
    );
    return send(command, stream);
  };
};

/**
 * Sends the commands of all requests that the event loop reads in one turn with one system call, which costs more than all else about a
 * command. `enableAutoPipelining` of ioredis does so too, but computes more than it saves.
 */
const writeTogether = (socket: Redis['stream'] | undefined): void => {
  if (socket === undefined || socket.writableCorked > 0) return;
  socket.cork();
  setImmediate(() => socket.uncork());
};

/** Logs each reason once in an outage at `warn`: errors of commands do not say why there is no connection. */
const logFailures = (redis: RedisClient, logger: Logger): void => {
  let logged = new Set<string>();
  redis.on('ready', () => {
    logged = new Set();
  });
  redis.on('error', (failure: Error) => {
    const error = explained(failure);
    const reason = reasonOf(error);
    logger[logged.has(reason) ? 'debug' : 'warn']({ err: error }, 'the connection to Redis failed');
    logged.add(reason);
  });
};

/** Resolves when a new connection is ready. Rejects when it fails, or is not ready after `timeout` milliseconds. */
export const awaitRedis = async (redis: RedisClient, timeout: number): Promise<void> => {
  await withResponseTimeout(timeout, once(redis, 'ready'), noResponse).catch((error) =>
    Promise.reject(explained(error)),
  );
};

/** ioredis puts the addresses of sentinels and the last failure into the text of its error: the code of a reply is kept. */
const explained = (error: Error): Error => {
  if (!error.message.startsWith('All sentinels are unreachable')) return error;
  const [, code] = / Last error: ([A-Z]{3,32}) /.exec(error.message) ?? [];
  return Object.assign(new LoggableError('no sentinel names the master'), { code });
};

const noResponse = (): Error => Object.assign(new Error('no response'), { code: 'ETIMEDOUT' });
