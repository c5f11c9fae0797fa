import { Cluster, type Redis, type RedisOptions } from 'ioredis';
import { LoggableError } from '../log/redact-error.ts';

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
    slotsRefreshInterval: 2_000,
    // The name of a node is not replaced by its address, since TLS has to verify the name.
    dnsLookup: (address, callback) => callback(null, address),
  });
  connectAllNodes(cluster);
  return cluster;
};

/** Connects to all nodes, including replicas, which may become masters. ioredis itself connects only with the first command, and rejects others meanwhile. */
const connectAllNodes = (cluster: Cluster): void => {
  const connect = (nodes: readonly Redis[]): void => {
    if (cluster.status !== 'ready') return;
    for (const node of nodes) if (node.status === 'wait') node.connect().catch(() => undefined);
  };
  cluster.on('ready', () => connect(cluster.nodes()));
  // `setImmediate`, since ioredis queues a redirected command for a new node only if the node has not begun to connect.
  cluster.on('+node', (node: Redis) => setImmediate(connect, [node]));
};

/** Sends a command to each master, so that ioredis connects to it. Resolves when each has answered or failed. */
export const connectMasters = async (cluster: Cluster): Promise<void> => {
  await Promise.allSettled(cluster.nodes('master').map((master) => master.ping()));
};

/** Rejects if there is no connection, or a master reports that a slot is not served, or (from Redis 7 on) refuses writes. */
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
