import { once } from 'node:events';
import { Cluster, Redis, type RedisOptions } from 'ioredis';
import type { Logger } from 'pino';
import { onResponseTimeout, withResponseTimeout } from '../limits/time-limits.ts';
import { LoggableError, reasonOf } from '../log/redact-error.ts';
import { leafSpan } from '../tracing/spans.ts';
import { connectCluster } from './cluster.ts';
import { databaseNumberIn, hostOf, isSentinelUrl, masterNameIn } from './url.ts';

export type RedisClient = Redis | Cluster;

/** Milliseconds that a command may take by default. If it takes longer, `sharedCounts` counts in the memory of this process. */
const COMMAND_TIMEOUT = 250;

/** Milliseconds without a reply to a command after which a connection is closed, since the server may be gone. */
const SILENCE_TIMEOUT = 5_000;

/** After a fail-over, the old master refuses writes, and may keep its connections open. A new connection may lead to the new master. */
const isReadOnly = ({ message }: Error): boolean => message.startsWith('READONLY ');

const retryStrategy = (attempt: number): number => Math.min(attempt * 100, 1_000);

export type ConnectionOptions = {
  readonly commandTimeout?: number;
  /** Whether the URLs lead to nodes of a cluster. Default: whether there are several URLs, and none of a sentinel. */
  readonly asCluster?: boolean;
};

/**
 * A connection that rejects commands after a short time, reconnects by itself, and does not repeat a command that may have been executed.
 * @param urls the URL of one server, or those of nodes of a cluster or of sentinels, which differ only in their hosts and ports
 */
export const connectRedis = (
  urls: readonly string[],
  logger: Logger,
  {
    commandTimeout = COMMAND_TIMEOUT,
    asCluster = urls.length > 1 && !urls.some(isSentinelUrl),
  }: ConnectionOptions = {},
): RedisClient => {
  const [url = ''] = urls;
  const options = { ...commonOptionsOf(url), maxRetriesPerRequest: 0, socketTimeout: SILENCE_TIMEOUT };
  const retries = { retryStrategy, sentinelRetryStrategy: retryStrategy, reconnectOnError: isReadOnly };
  const redis = asCluster
    ? connectCluster(addressesOf(urls), options, retryStrategy)
    : new Redis({ ...options, ...retries, enableOfflineQueue: false, ...serverOptionsOf(urls) });
  if (redis instanceof Cluster) redis.on('+node', (node: Redis) => limitCommands(node, commandTimeout));
  else limitCommands(redis, commandTimeout);
  logFailures(redis, logger);
  return redis;
};

const addressesOf = (urls: readonly string[]) =>
  urls.map((text) => {
    const url = new URL(text);
    return { host: hostOf(url), port: Number(url.port || (isSentinelUrl(text) ? 26_379 : 6_379)) };
  });

/** The credentials, TLS and address family, which all URLs have in common. */
const commonOptionsOf = (url: string): Pick<RedisOptions, 'username' | 'password' | 'family' | 'tls'> => {
  const { username, password, searchParams } = new URL(url);
  const family = searchParams.get('family');
  return {
    ...(username !== '' && { username: decodeURIComponent(username) }),
    ...(password !== '' && { password: decodeURIComponent(password) }),
    ...(family !== null && { family: Number(family) }),
    ...(hasTls(url) && { tls: {} }),
  };
};

/** The options by which ioredis finds one server: its address, or the sentinels that know it. */
const serverOptionsOf = (urls: readonly string[]): Omit<RedisOptions, 'replyMapping'> => {
  const [url = ''] = urls;
  const addresses = addressesOf(urls);
  const db = databaseNumberIn(url);
  if (!isSentinelUrl(url)) return { ...addresses[0], db };
  const { searchParams } = new URL(url);
  return {
    // Milliseconds. They are short, so that the next sentinel is soon tried if a sentinel does not answer.
    ...{ connectTimeout: 2_000, sentinelCommandTimeout: 1_000 },
    db,
    name: masterNameIn(url),
    sentinels: addresses,
    sentinelUsername: searchParams.get('sentinel_username') ?? undefined,
    sentinelPassword: searchParams.get('sentinel_password') ?? undefined,
    ...(hasTls(url) && { enableTLSForSentinelMode: true, sentinelTLS: {} }),
  };
};

const hasTls = (url: string): boolean => new URL(url).protocol.startsWith('rediss');

/**
 * Rejects each command that has no response after `timeout` milliseconds. The `commandTimeout` of ioredis is a plain timer, and would reject commands
 * whose response has arrived while this process was busy.
 */
const limitCommands = (redis: Redis, timeout: number): void => {
  const send = redis.sendCommand.bind(redis);
  redis.sendCommand = (command, stream) => {
    const cancel = onResponseTimeout(timeout, () => {
      if (!command.isSettled) command.reject(new Error('Command timed out'));
    });
    if (stream === undefined) writeOncePerTurn(redis.stream);
    const { name } = command;
    leafSpan(name, { 'db.system.name': 'redis', 'db.operation.name': name }, () => command.promise).then(
      cancel,
      cancel,
    );
    return send(command, stream);
  };
};

/** Writes all commands of one turn of the event loop with one system call. `enableAutoPipelining` of ioredis would take more time than it saves. */
const writeOncePerTurn = (socket: Redis['stream'] | undefined): void => {
  if (socket === undefined || socket.writableCorked > 0) return;
  socket.cork();
  setImmediate(() => socket.uncork());
};

/** Logs why there is no connection, which the errors of commands do not say. During an outage, each reason is logged once at the level `warn`. */
const logFailures = (redis: RedisClient, logger: Logger): void => {
  let loggedReasons = new Set<string>();
  redis.on('ready', () => {
    loggedReasons = new Set();
  });
  redis.on('error', (failure: Error) => {
    const error = withoutAddresses(failure);
    const reason = reasonOf(error);
    logger[loggedReasons.has(reason) ? 'debug' : 'warn']({ err: error }, 'the connection to Redis failed');
    loggedReasons.add(reason);
  });
};

/** Resolves when a new connection is ready. Rejects if it fails, or is not ready after `timeout` milliseconds. */
export const awaitRedis = async (redis: RedisClient, timeout: number): Promise<void> => {
  const noResponse = () => Object.assign(new Error('no response'), { code: 'ETIMEDOUT' });
  await withResponseTimeout(timeout, once(redis, 'ready'), noResponse).catch((error) => {
    throw withoutAddresses(error);
  });
};

/** Replaces the message of ioredis that quotes addresses of sentinels and their last reply. Only the code of this reply is kept. */
const withoutAddresses = (error: Error): Error => {
  if (!error.message.startsWith('All sentinels are unreachable')) return error;
  const [, code] = / Last error: ([A-Z]{3,32}) /.exec(error.message) ?? [];
  return Object.assign(new LoggableError('no sentinel names the master'), { code });
};
