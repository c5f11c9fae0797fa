import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { vi } from 'vitest';
import { freePort } from './free-port.ts';
import { launchRedis, type RedisProgram } from './redis.ts';
import type { TestServer } from './server.ts';

const SHARDS = 3;
const SLOTS = 16_384;
/** Only catches a cluster that never gets there. */
const PATIENCE = { timeout: 60_000, interval: 50 };

/** Milliseconds for which a master's writes are paused: longer than the replica takes. */
const PAUSE = 10_000;

const SETTINGS = {
  'cluster-enabled': 'yes',
  'cluster-config-file': 'nodes.conf',
  'cluster-node-timeout': '2000',
  // The other masters continue to serve their slots while one is missing.
  'cluster-require-full-coverage': 'no',
  'cluster-replica-validity-factor': '0',
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

export type Shard = { readonly master: ClusterNode; readonly replica: ClusterNode };

/** Three masters with a replica each. `master` and `replica` are the roles at the start. */
export type RedisCluster = {
  readonly shards: readonly Shard[];
  /** Number of the shard that stores a key. */
  readonly shardOf: (key: string) => Promise<number>;
  /** Resolves when every node reports that all slots are served, and every replica is in sync. */
  readonly whole: () => Promise<void>;
  /** Resolves when all other masters report that this one has failed. */
  readonly failed: (node: ClusterNode) => Promise<void>;
  /** Keeps the replica from being elected, however long its master is away. */
  readonly withhold: (shard: Shard) => Promise<void>;
  /**
   * Pauses the writes of the master, and resolves when its replica has all writes that it has acknowledged. A master that ends
   * between an acknowledgement and the replication of the write loses it, which is not what a test can count on.
   */
  readonly settle: (shard: Shard) => Promise<void>;
  /** Allows the replica to be elected, and resolves when all nodes that run report that it is a master. */
  readonly elect: (shard: Shard) => Promise<void>;
  readonly stop: () => Promise<void>;
};

/** Starts a cluster, and resolves when it is whole. */
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
    const cluster = { shards, ...statesOf(nodes, shards), stop };
    await cluster.whole();
    return cluster;
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
  // Failures are expected while the node is killed.
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
    // It is refused until the replica has heard of its master.
    await vi.waitFor(() => replica.redis.cluster('REPLICATE', master.id), PATIENCE);
  }
};

const statesOf = (nodes: readonly ClusterNode[], shards: readonly Shard[]) => {
  /** Resolves when each of the nodes has this to say about the other one. */
  const reported = (by: readonly ClusterNode[], about: ClusterNode, flag: RegExp): Promise<void> =>
    vi.waitFor(async () => {
      for (const { redis } of by) {
        const flags = flagsIn(String(await redis.cluster('NODES')), about.id);
        if (!flag.test(flags)) throw new Error(`the node is ${flags}`);
      }
    }, PATIENCE);
  const otherMasters = (node: ClusterNode): ClusterNode[] =>
    shards.map(({ master }) => master).filter((master) => master !== node);

  return {
    shardOf: async (key: string) => {
      const slot = Number(await nodes[0]?.redis.cluster('KEYSLOT', key));
      return shards.findIndex((_, at) => slot < firstSlotOf(at + 1));
    },
    whole: () =>
      vi.waitFor(() => Promise.all(nodes.map(({ redis }) => assertWhole(redis))).then(() => undefined), PATIENCE),
    failed: (node: ClusterNode) => reported(otherMasters(node), node, /\bfail(?!\?)/),
    withhold: async ({ replica }: Shard) => {
      await replica.redis.config('SET', 'cluster-replica-no-failover', 'yes');
    },
    settle: async ({ master, replica }: Shard) => {
      await master.redis.call('CLIENT', 'PAUSE', PAUSE, 'WRITE');
      await vi.waitFor(async () => {
        const [written, copied] = await Promise.all([master, replica].map(offsetOf));
        if (written !== copied) throw new Error(`the replica has ${copied} of ${written} bytes`);
      }, PATIENCE);
    },
    elect: async ({ master, replica }: Shard) => {
      await replica.redis.config('SET', 'cluster-replica-no-failover', 'no');
      const running = nodes.filter((node) => node !== master);
      await reported(running, replica, /\bmaster\b/);
    },
  };
};

/** How far a node is in the stream of writes, in bytes. */
const offsetOf = async ({ redis }: ClusterNode): Promise<string | undefined> =>
  /^(?:master|slave)_repl_offset:(\d+)/m.exec(await redis.info('replication'))?.[1];

/** What a node reports about another: `master`, `slave`, `fail?`, `fail` and others, separated by commas. */
const flagsIn = (nodes: string, id: string): string =>
  nodes
    .split('\n')
    .find((line) => line.startsWith(id))
    ?.split(' ')[2] ?? 'unknown';

const assertWhole = async (redis: Redis): Promise<void> => {
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
