import { Cluster, type Redis } from 'ioredis';
import { createLogger } from '../../logging/logger.ts';
import { openRedis } from '../../redis.ts';
import { VERSION } from '../../version.ts';
import { clockFacts } from '../checks/clock.ts';
import type { RedisFacts } from '../checks/redis.ts';
import { reached } from './unreachable.ts';

/**
 * Asks a Redis, or all masters of a cluster, about themselves, without writing. Connects as the service does.
 * @throws Unreachable
 */
export const askRedis = async (urls: readonly string[]): Promise<RedisFacts[]> => {
  const silent = createLogger({ level: 'silent', environment: 'production', version: VERSION }, () => ({}));
  const redis = await reached(openRedis(urls, silent));
  try {
    const nodes = redis instanceof Cluster ? redis.nodes('master') : [redis];
    return await Promise.all(nodes.map(factsOf));
  } finally {
    redis.disconnect();
  }
};

const factsOf = async (redis: Redis): Promise<RedisFacts> => {
  const clock = await clockOf(redis).catch(() => null);
  const info = fieldsOf(await redis.info().catch(() => ''));
  const setting = (name: string) => settingOf(redis, name);
  const save = await setting('save');
  return {
    address: `${redis.options.host}:${redis.options.port}`,
    version: info.get('redis_version') ?? 'of an unknown version',
    isReplica: info.get('role') === 'slave',
    replicas: Number(info.get('connected_slaves') ?? 0),
    maxmemory: numberOf(info.get('maxmemory')),
    maxmemoryPolicy: info.get('maxmemory_policy') ?? null,
    appendonly: info.has('aof_enabled') ? info.get('aof_enabled') === '1' : null,
    appendfsync: await setting('appendfsync'),
    saves: save === null ? null : save !== '',
    isLastWriteOk: !['aof_last_write_status', 'rdb_last_bgsave_status'].some((name) => info.get(name) === 'err'),
    minReplicasToWrite: numberOf(await setting('min-replicas-to-write')),
    idleTimeout: numberOf(await setting('timeout')),
    clusterState: info.get('cluster_enabled') === '1' ? await clusterStateOf(redis) : null,
    requiresFullCoverage:
      info.get('cluster_enabled') === '1' ? isYes(await setting('cluster-require-full-coverage')) : null,
    clock,
  };
};

/** The lines `name:value` of a report. */
const fieldsOf = (report: string): Map<string, string> =>
  new Map([...report.matchAll(/^(\w+):([^\r\n]*)/gm)].map(([, name = '', value = '']) => [name, value]));

const numberOf = (text: string | null | undefined): number | null => (text ? Number(text) : null);

const isYes = (text: string | null): boolean | null => (text === null ? null : text === 'yes');

/** @returns `null` when the user may not ask, or the server has no such setting. */
const settingOf = async (redis: Redis, name: string): Promise<string | null> => {
  const reply: unknown = await redis.config('GET', name).catch(() => []);
  return Array.isArray(reply) && typeof reply[1] === 'string' ? reply[1] : null;
};

const clusterStateOf = async (redis: Redis): Promise<string | null> => {
  const report = await redis.cluster('INFO').catch(() => '');
  return fieldsOf(String(report)).get('cluster_state') ?? null;
};

const clockOf = async (redis: Redis) => {
  const before = Date.now();
  const [seconds, microseconds] = await redis.time();
  return clockFacts(before, Number(seconds) * 1_000 + Number(microseconds) / 1_000, Date.now());
};
