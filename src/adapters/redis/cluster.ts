import { Cluster, type Redis, type RedisOptions } from 'ioredis';
import { LoggableError } from '../log/redact-error.ts';

/** Milliseconds between two refreshes of a cluster's slots. */
const SLOTS_INTERVAL = 2_000;

/** @param retryStrategy milliseconds before an attempt to reconnect. */
export const connectCluster = (
  nodes: { readonly host: string; readonly port: number }[],
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
 * Connects to all nodes at once: ioredis would connect at the first command of a node, and reject the others meanwhile. Replicas as well,
 * since each may become a master.
 */
const connectEarly = (cluster: Cluster): void => {
  const connect = (nodes: readonly Redis[]): void => {
    if (cluster.status !== 'ready') return;
    for (const node of nodes) if (node.status === 'wait') node.connect().catch(() => undefined);
  };
  cluster.on('ready', () => connect(cluster.nodes()));
  // Later, since a redirected command is queued only before its node connects.
  cluster.on('+node', (node: Redis) => setImmediate(connect, [node]));
};

/** Resolves when each master is connected, or its connection has timed out. */
export const connectMasters = async (cluster: Cluster): Promise<void> => {
  await Promise.allSettled(cluster.nodes('master').map((master) => master.ping()));
};

/** Rejects unless all masters accept writes and report that every slot is served. */
export const pingCluster = async (cluster: Cluster): Promise<void> => {
  const masters = cluster.nodes('master');
  if (cluster.status !== 'ready' || masters.length === 0) throw new LoggableError('not connected to the cluster');
  await Promise.all(masters.map(assertServing));
};

const assertServing = async (master: Redis): Promise<void> => {
  const report = await master.cluster('INFO');
  if (!servesEverySlot(String(report))) throw new LoggableError('a slot is not served');
  await assertWritable(master);
};

/** The lines of CLUSTER INFO while every slot has a working master. */
const HEALTHY = ['cluster_state:ok', 'cluster_slots_assigned:16384', 'cluster_slots_fail:0'];

const servesEverySlot = (report: string): boolean => {
  const lines = new Set(report.split('\r\n'));
  return HEALTHY.every((line) => lines.has(line));
};

/** A script that could write, but does not. Before it runs, Redis 7 makes the same checks as before a write: NOREPLICAS, READONLY, OOM and MISCONF. */
const MAY_WRITE = '#!lua\nreturn 1';

/** Rejects unless the server would accept a write. Of Redis 6, only whether it responds is known. */
const assertWritable = async (redis: Redis): Promise<void> => {
  await redis.eval(MAY_WRITE, 0).catch(unlessShebangIsUnknown);
};

/** Redis 6 does not know the first line of the script. */
const unlessShebangIsUnknown = (error: unknown): void => {
  if (error instanceof Error && error.message.startsWith('ERR Error compiling script')) return;
  throw error;
};
