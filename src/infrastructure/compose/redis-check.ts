import { Cluster } from 'ioredis';
import type { Logger } from 'pino';
import { randomSecrets } from '../../adapters/crypto/secrets.ts';
import type { Check } from '../../adapters/http/request/settings.ts';
import { outageLog } from '../../adapters/log/lines.ts';
import { LoggableError } from '../../adapters/log/redact-error.ts';
import { pingCluster } from '../../adapters/redis/cluster.ts';
import type { RedisClient } from '../../adapters/redis/connect.ts';
import { redisCounts } from '../../adapters/redis/counts.ts';
import { evictionOf, infoOf, isNodeOfCluster } from '../../adapters/redis/open.ts';

/** Rejects if Redis cannot count all clients, for instance if it is one node of a cluster, or does not accept all writes. */
export const pingRedis = async (redis: RedisClient): Promise<void> => {
  if (redis instanceof Cluster) await pingCluster(redis);
  else if (isNodeOfCluster(await infoOf(redis))) throw new LoggableError('connected to one node of a cluster');
  await probeCounts(redis);
};

/** A check of Redis, which also logs when Redis is found to evict keys, and when it no longer does. */
export const watchRedis = (redis: RedisClient, logger: Logger) => {
  const eviction = outageLog(logger, {
    unavailable: 'Redis evicts keys when its memory is full: counts are lost, and clients can pass their limits',
    available: 'Redis no longer evicts keys',
  });
  const ping = async (): Promise<void> => {
    await pingRedis(redis);
    const nodes = redis instanceof Cluster ? redis.nodes('master') : [redis];
    const found = (await Promise.all(nodes.map(infoOf))).map(evictionOf).find((each) => each !== null);
    if (found === undefined) return eviction.succeeded();
    const error = new LoggableError('keys are evicted when the memory is full');
    eviction.failed(error, found);
    throw error;
  };
  return {
    /** The service is ready without Redis, too: then each process counts for itself. */
    check: { name: 'redis', ping, required: false } satisfies Check,
    evicts: eviction.isOut,
  };
};

export const NOT_PERMITTED = 'the user may not run a command that counting needs';

const PROBE_TTL_MS = 1_000;

/** Runs the scripts with which the service counts, on a key of its own. Rejects if one of them fails. */
const probeCounts = async (redis: RedisClient): Promise<void> => {
  const key = `tandem:probe:${randomSecrets.random()}`;
  const { countRequest, replace } = redisCounts(redis);
  try {
    await countRequest(key, PROBE_TTL_MS);
    const reply = await replace(key, '', 'probed', PROBE_TTL_MS);
    await replace(key, reply?.text ?? '', 'probed', PROBE_TTL_MS);
    await replace(key, 'probed', '', PROBE_TTL_MS);
  } catch (error) {
    throw isRefusal(error) ? new LoggableError(NOT_PERMITTED) : error;
  }
};

/** The replies if the user lacks a right: to a command, to a script in Redis 7, and to a script in Redis 6. */
const REFUSALS = [/^NOPERM /, /ACL failure in script/, /can't run this command/];

const isRefusal = (error: unknown) => error instanceof Error && REFUSALS.some((refusal) => refusal.test(error.message));
