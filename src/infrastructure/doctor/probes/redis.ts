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
  return {
    address: `${redis.options.host}:${redis.options.port}`,
    version: info.get('redis_version') ?? 'of an unknown version',
    isReplica: info.get('role') === 'slave',
    clusterState: info.get('cluster_enabled') === '1' ? await clusterStateOf(redis) : null,
    clock,
  };
};

/** The lines `name:value` of a report. */
const fieldsOf = (report: string): Map<string, string> =>
  new Map([...report.matchAll(/^(\w+):([^\r\n]*)/gm)].map(([, name = '', value = '']) => [name, value]));

const clusterStateOf = async (redis: Redis): Promise<string | null> => {
  const report = await redis.cluster('INFO').catch(() => '');
  return fieldsOf(String(report)).get('cluster_state') ?? null;
};

const clockOf = async (redis: Redis) => {
  const before = Date.now();
  const [seconds, microseconds] = await redis.time();
  return clockFacts(before, Number(seconds) * 1_000 + Number(microseconds) / 1_000, Date.now());
};
