import { type Finding, ok, problem, when } from '../finding.ts';
import type { ClockFacts } from './clock.ts';

/** One server, or one master of a cluster. `null` is what it did not tell. */
export type RedisFacts = {
  /** Host and port. */
  readonly address: string;
  readonly version: string;
  readonly isReplica: boolean;
  /** `cluster_state` of a node; `null` without a cluster. */
  readonly clusterState: string | null;
  readonly clock: ClockFacts | null;
};

/** Counts alone are kept there, which may be lost. */
export const redisFindings = ({ address, version, isReplica, clusterState }: RedisFacts): Finding[] => [
  ok('redis.reachable', `Redis ${version} responds at ${address}.`),
  ...when(isReplica, () =>
    problem(
      'redis.replica',
      `${address} is a replica, which refuses writes.`,
      'Set REDIS_URL to the address of the master.',
    ),
  ),
  ...when(clusterState !== null && clusterState !== 'ok', () =>
    problem(
      'redis.cluster-state',
      `${address} reports that the cluster is not whole: each instance counts some clients for itself.`,
      'Bring the missing masters back, or assign their slots: `redis-cli --cluster check`.',
    ),
  ),
];
