import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { vi } from 'vitest';
import { freePort } from './free-port.ts';
import { launchRedis, type RedisProgram } from './redis.ts';
import type { TestServer } from './server.ts';

const SHARDS = 3;
const SLOTS = 16_384;
/** Options of `vi.waitFor` in milliseconds, with a time-out that only a cluster that never comes up exceeds. */
const PATIENCE = { timeout: 60_000, interval: 50 };

const SETTINGS = {
  'cluster-enabled': 'yes',
  'cluster-config-file': 'nodes.conf',
  'cluster-node-timeout': '2000',
  'cluster-allow-replica-migration': 'no',
  'repl-diskless-sync-delay': '0',
  appendonly: 'no',
};

type ClusterNode = TestServer & {
  /** The node's id within the cluster. */
  readonly id: string;
  /** A connection for the test's own commands. */
  readonly redis: Redis;
};

type Shard = { readonly master: ClusterNode; readonly replica: ClusterNode };

/** Three masters, each with a replica. `master` and `replica` are the roles at the start. */
export type RedisCluster = { readonly shards: readonly Shard[]; readonly stop: () => Promise<void> };

/** Starts a cluster, and waits until it is complete. */
export const launchRedisCluster = async (program: RedisProgram): Promise<RedisCluster> => {
  const password = randomUUID();
  const access = { requirepass: password, masterauth: password };
  const launches = Array.from({ length: 2 * SHARDS }, async () => launchNode(program, access, await freePort()));
  const started = await Promise.allSettled(launches);
  const nodes = started.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
  const stop = async () => {
    await Promise.all(
      nodes.map((node) => {
        node.redis.disconnect();
        return node.stop();
      }),
    );
  };
  try {
    for (const outcome of started) if (outcome.status === 'rejected') throw outcome.reason;
    const shards = Array.from({ length: SHARDS }, (_, at) => shardAt(nodes, at));
    await join(nodes, shards);
    await vi.waitFor(() => Promise.all(nodes.map(({ redis }) => assertComplete(redis))), PATIENCE);
    return { shards, stop };
  } catch (error) {
    await stop();
    throw error;
  }
};

type StartedNode = ClusterNode & { readonly busPort: number };

const launchNode = async (
  program: RedisProgram,
  access: Readonly<Record<string, string>>,
  busPort: number,
): Promise<StartedNode> => {
  const server = await launchRedis(program, { ...SETTINGS, ...access, 'cluster-port': String(busPort) });
  const redis = new Redis(server.url, { commandTimeout: 5_000, retryStrategy: () => 50 });
  // Connection errors are expected when a test kills the node.
  redis.on('error', () => undefined);
  const id = await redis.cluster('MYID');
  return { ...server, id: String(id), redis, busPort };
};

const shardAt = (nodes: readonly ClusterNode[], at: number): Shard => {
  const [master, replica] = [nodes[at], nodes[SHARDS + at]];
  if (master === undefined || replica === undefined) throw new RangeError(`there is no shard ${at}`);
  return { master, replica };
};

const firstSlotOf = (shard: number): number => Math.ceil((shard * SLOTS) / SHARDS);

const join = async (nodes: readonly StartedNode[], shards: readonly Shard[]): Promise<void> => {
  for (const [at, { redis }] of nodes.entries()) await redis.cluster('SET-CONFIG-EPOCH', at + 1);
  for (const [at, { master }] of shards.entries()) {
    await master.redis.cluster('ADDSLOTSRANGE', firstSlotOf(at), firstSlotOf(at + 1) - 1);
  }
  const [first, ...others] = nodes;
  for (const { url, busPort } of others)
    await first?.redis.call('CLUSTER', 'MEET', '127.0.0.1', new URL(url).port, busPort);
  for (const { master, replica } of shards) {
    // The command is refused until the replica has heard of its master.
    await vi.waitFor(() => replica.redis.cluster('REPLICATE', master.id), PATIENCE);
  }
};

const assertComplete = async (redis: Redis): Promise<void> => {
  const state = String(await redis.cluster('INFO'));
  const known = String(await redis.cluster('NODES'))
    .trim()
    .split('\n');
  const replicas = known.filter((line) => / (?:myself,)?slave /.test(line));
  const replication = await redis.info('replication');
  const isWhole =
    /^cluster_state:ok\r?$/m.test(state) &&
    new RegExp(`^cluster_slots_ok:${SLOTS}\\r?$`, 'm').test(state) &&
    known.length === 2 * SHARDS &&
    replicas.length === SHARDS &&
    /^(?:master_link_status:up|slave0:.*state=online.*)\r?$/m.test(replication);
  if (!isWhole) throw new Error(`not whole: ${known.join('\n')}\n${state}\n${replication}`);
};
