import { Cluster, type Redis, type RedisOptions } from 'ioredis';
import { LoggableError } from '../log/redact-error.ts';

/** Milliseconds between two refreshes of a cluster's slots. */
const SLOTS_INTERVAL = 2_000;

/** @param retryStrategy returns the milliseconds before an attempt to reconnect */
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
    // With 0, no command is sent again after a fail-over: it may have been executed before its connection broke.
    retryDelayOnFailover: 0,
    slotsRefreshInterval: SLOTS_INTERVAL,
    // The name is not replaced by an address, since TLS has to verify the name.
    dnsLookup: (address, callback) => callback(null, address),
  });
  connectAllNodes(cluster);
  return cluster;
};

/** Connects to all nodes, also to replicas, which may become masters. ioredis would connect with the first command, and reject others meanwhile. */
const connectAllNodes = (cluster: Cluster): void => {
  const connect = (nodes: readonly Redis[]): void => {
    if (cluster.status !== 'ready') return;
    for (const node of nodes) if (node.status === 'wait') node.connect().catch(() => undefined);
  };
  cluster.on('ready', () => connect(cluster.nodes()));
  // Not at once: ioredis queues a redirected command for its node only if that has not begun to connect.
  cluster.on('+node', (node: Redis) => setImmediate(connect, [node]));
};

/** Resolves when each master is connected, or has failed to connect in time. */
export const connectMasters = async (cluster: Cluster): Promise<void> => {
  await Promise.allSettled(cluster.nodes('master').map((master) => master.ping()));
};

/** Rejects unless all masters accept writes and report that every slot is served. */
export const pingCluster = async (cluster: Cluster): Promise<void> => {
  const masters = cluster.nodes('master');
  if (cluster.status !== 'ready' || masters.length === 0) throw new LoggableError('not connected to the cluster');
  await Promise.all(masters.map(assertServing));
};

/** The lines that CLUSTER INFO has while every slot has a working master. */
const HEALTHY_LINES = ['cluster_state:ok', 'cluster_slots_assigned:16384', 'cluster_slots_fail:0'];

/** A script that writes nothing. Because of its first line, Redis 7 refuses it whenever it would refuse a write: NOREPLICAS, READONLY, OOM and MISCONF. */
const WRITE_CHECK_SCRIPT = '#!lua\nreturn 1';

const assertServing = async (master: Redis): Promise<void> => {
  const report = String(await master.cluster('INFO')).split('\r\n');
  if (!HEALTHY_LINES.every((line) => report.includes(line))) throw new LoggableError('a slot is not served');
  await master.eval(WRITE_CHECK_SCRIPT, 0).catch((error: Error) => {
    // Redis 6 cannot compile the script, so whether its masters accept writes is not checked.
    if (!error.message.startsWith('ERR Error compiling script')) throw error;
  });
};
