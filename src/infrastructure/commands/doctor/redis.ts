import { Cluster, type Redis } from 'ioredis';
import { pino } from 'pino';
import { reasonOf } from '../../../adapters/log/redact-error.ts';
import { evictionOf, type Info, infoOf, openRedis } from '../../../adapters/redis/open.ts';
import { NOT_PERMITTED, pingRedis } from '../../compose/redis-check.ts';
import { type Finding, type Findings, note, ok, problem, type SetUp, warning } from './examine.ts';

/** Examines a Redis, or all masters of a cluster. Counts as the service does, and takes it back. Connects as the service does. */
export const redis = async ({ config: { redisUrls } }: SetUp): Promise<Findings> => {
  if (redisUrls.length === 0)
    return note('redis.none', 'REDIS_URL is unset: each instance counts for itself.', 'Set it for several instances.');
  const client = await openRedis(redisUrls, pino({ level: 'silent' })).catch((error: Error) => error);
  if (client instanceof Error)
    return warning(
      'redis.unreachable',
      `${client.message}: each instance counts limits for itself.`,
      'Check that Redis runs, that this machine may reach it, and the password.',
    );
  try {
    const nodes = client instanceof Cluster ? client.nodes('master') : [client];
    const findings = (await Promise.all(nodes.map(ofNode))).flat();
    const refusal = await pingRedis(client).then(() => null, reasonOf);
    if (refusal === null) return findings;
    if (refusal?.includes(NOT_PERMITTED)) return [...findings, RIGHTS];
    const seen = `Redis does not accept all writes (${refusal}): each instance counts some limits for itself.`;
    return [...findings, problem('redis.read-only', seen, 'Set REDIS_URL to a master; bring missing masters back.')];
  } finally {
    client.disconnect();
  }
};

/** Leaves out what the Redis user may not read: INFO. */
const ofNode = async (node: Redis): Promise<Finding[]> => {
  const { options, stream } = node;
  // The address of a master is that which the sentinels have named.
  const [host, port] = options.sentinels ? [stream.remoteAddress, stream.remotePort] : [options.host, options.port];
  const address = `${host}:${port}`;
  const info = await infoOf(node).catch((): Info => new Map());
  const version = info.get('redis_version') ?? 'of an unknown version';
  const findings = [ok('redis.reachable', `Redis ${version} responds at ${address}.`)];
  const eviction = evictionOf(info);
  if (eviction !== null) findings.push(evictionFinding(address, eviction));
  return findings;
};

const RIGHTS = problem(
  'redis.rights',
  'The user of Redis may not run all commands that counting needs: each instance counts for itself.',
  'Give the user the rights of docs/deploy.md, "Redis".',
);

const evictionFinding = (address: string, { policy, evicted }: NonNullable<ReturnType<typeof evictionOf>>): Finding => {
  const seen = `${address} evicts keys when its memory is full (${policy}; ${evicted} so far): counts are lost, and limits can be passed.`;
  const advice = 'Set maxmemory-policy to noeviction.';
  return evicted > 0 ? problem('redis.eviction', seen, advice) : warning('redis.eviction', seen, advice);
};
