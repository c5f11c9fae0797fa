import { Cluster, type Redis, type RedisOptions } from 'ioredis';
import { NO_CLUSTER, SLOT_NOT_SERVED } from '../../adapters/redaction/safe-messages.ts';

/** Milliseconds between two refreshes of a cluster's slots. */
const SLOTS_INTERVAL = 2_000;

/** @param retryStrategy milliseconds before an attempt to reconnect. */
export const connectCluster = (
  nodes: { host: string; port: number }[],
  redisOptions: Omit<RedisOptions, 'replyMapping'>,
  retryStrategy: (attempt: number) => number,
): Cluster => {
  const cluster = new Cluster(nodes, {
    redisOptions,
    enableOfflineQueue: false,
    clusterRetryStrategy: retryStrategy,
    clusterNodeRetryStrategy: retryStrategy,
    // A command whose connection broke may have been executed.
    retryDelayOnFailover: 0,
    slotsRefreshInterval: SLOTS_INTERVAL,
    // TLS verifies the name, not the address.
    dnsLookup: (address, callback) => callback(null, address),
  });
  connectEarly(cluster);
  return cluster;
};

/**
 * ioredis connects to a node at its first command, and rejects all other commands until it is connected. Replicas are connected
 * to as well, since each may become a master.
 */
const connectEarly = (cluster: Cluster): void => {
  const connect = (nodes: readonly Redis[]): void => {
    if (cluster.status !== 'ready') return;
    for (const node of nodes) if (node.status === 'wait') node.connect().catch(() => undefined);
  };
  cluster.on('ready', () => connect(cluster.nodes()));
  // After a command that was redirected to this node, which it queues only before it connects.
  cluster.on('+node', (node: Redis) => setImmediate(connect, [node]));
};

/** Resolves when the masters are connected, or cannot be within the time-out of a command. */
export const connectMasters = async (cluster: Cluster): Promise<void> => {
  await Promise.allSettled(cluster.nodes('master').map((master) => master.ping()));
};

/** Rejects unless all masters accept writes and report that every slot is served. */
export const pingCluster = async (cluster: Cluster): Promise<void> => {
  const masters = cluster.nodes('master');
  if (cluster.status !== 'ready' || masters.length === 0) throw new Error(NO_CLUSTER);
  await Promise.all(masters.map(assertServing));
};

const assertServing = async (master: Redis): Promise<void> => {
  const report = await master.cluster('INFO');
  if (!servesEverySlot(String(report))) throw new Error(SLOT_NOT_SERVED);
  await assertWritable(master);
};

/** Of the lines of CLUSTER INFO, those that a cluster has while every slot has a master that has not failed. */
const WHOLE = ['cluster_state:ok', 'cluster_slots_assigned:16384', 'cluster_slots_fail:0'];

const servesEverySlot = (report: string): boolean => {
  const lines = new Set(report.split('\r\n'));
  return WHOLE.every((line) => lines.has(line));
};

/**
 * A script that may write, and does not. Redis 7 makes the same checks before it runs as before a write: NOREPLICAS, READONLY, OOM
 * and MISCONF.
 */
const MAY_WRITE = '#!lua\nreturn 1';

/** Rejects unless this server responds and would accept a write. Redis 6 only shows that it responds. */
export const assertWritable = async (redis: Redis): Promise<void> => {
  await redis.eval(MAY_WRITE, 0).catch(unlessShebangIsUnknown);
};

/** The reply of Redis 6, for which the first line is not Lua. */
const unlessShebangIsUnknown = (error: unknown): void => {
  if (error instanceof Error && error.message.startsWith('ERR Error compiling script')) return;
  throw error;
};
