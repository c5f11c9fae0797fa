import { Cluster } from 'ioredis';
import type { Logger } from 'pino';
import { randomSecrets } from '../../adapters/crypto/secrets.ts';
import type { Check } from '../../adapters/http/request/settings.ts';
import { outageLog } from '../../adapters/log/lines.ts';
import { LoggableError } from '../../adapters/log/redact-error.ts';
import { pingCluster } from '../../adapters/redis/cluster.ts';
import { redisCounts } from '../../adapters/redis/counts.ts';
import { evictionOf, infoOf, isNodeOfCluster, type RedisClient } from '../../adapters/redis/open.ts';

/** Rejects unless Redis counts. A cluster has to accept writes for every slot: otherwise some clients would not be counted. */
export const pingRedis = async (redis: RedisClient): Promise<void> => {
  if (redis instanceof Cluster) await pingCluster(redis);
  else if (isNodeOfCluster(await infoOf(redis))) throw new LoggableError('connected to one node of a cluster');
  await probeCounts(redis);
};

/** Logs when Redis is found to evict, and when it no longer is. */
export const watchRedis = (redis: RedisClient, logger: Logger) => {
  const eviction = outageLog(logger, {
    unavailable: 'Redis evicts keys when its memory is full: counts are lost, and clients can pass their limits',
    available: 'Redis no longer evicts keys',
  });
  const ping = async (): Promise<void> => {
    await pingRedis(redis);
    const nodes = redis instanceof Cluster ? redis.nodes('master') : [redis];
    const evicting = (await Promise.all(nodes.map(infoOf))).map(evictionOf).find((found) => found !== null);
    if (evicting === undefined) return eviction.succeeded();
    const error = new LoggableError('keys are evicted when the memory is full');
    eviction.failed(error, evicting);
    throw error;
  };
  return {
    /** Not required: without Redis, limits are counted in each process. */
    check: { name: 'redis', ping, required: false } satisfies Check,
    /** Whether Redis evicts keys, as of the last check. */
    evicts: eviction.isOut,
  };
};

export const NOT_PERMITTED = 'the user may not run a command that counting needs';

const PROBE_TTL_MS = 1_000;

/** Runs the scripts that the service counts with, which need the same rights, and removes their key. Rejects if that is impossible. */
const probeCounts = async (redis: RedisClient): Promise<void> => {
  const key = `tandem:probe:${randomSecrets.random()}`;
  const { countRequest, replace } = redisCounts(redis);
  try {
    await countRequest(key, PROBE_TTL_MS);
    const counted = await replace(key, '', 'probed', PROBE_TTL_MS);
    await replace(key, counted?.text ?? '', 'probed', PROBE_TTL_MS);
    await replace(key, 'probed', '', PROBE_TTL_MS);
  } catch (error) {
    throw isRefusal(error) ? new LoggableError(NOT_PERMITTED) : error;
  }
};

/** Replies to a user without a right: to a command, and to a script in Redis 7 and 6. */
const REFUSALS = [/^NOPERM /, /ACL failure in script/, /can't run this command/];

const isRefusal = (error: unknown) => error instanceof Error && REFUSALS.some((refusal) => refusal.test(error.message));
