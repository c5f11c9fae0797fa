import { type Finding, note, ok, problem, warning, when } from '../finding.ts';
import type { ClockFacts } from './clock.ts';

/** One server, or one master of a cluster. `null` is what it did not tell. */
export type RedisFacts = {
  /** Host and port. */
  readonly address: string;
  readonly version: string;
  readonly isReplica: boolean;
  readonly replicas: number;
  /** Bytes; 0 is no limit. */
  readonly maxmemory: number | null;
  readonly maxmemoryPolicy: string | null;
  readonly appendonly: boolean | null;
  readonly appendfsync: string | null;
  /** Whether snapshots are written. */
  readonly saves: boolean | null;
  readonly isLastWriteOk: boolean;
  readonly minReplicasToWrite: number | null;
  /** Seconds after which an idle client is disconnected; 0 is never. */
  readonly idleTimeout: number | null;
  /** `cluster_state` of a node; `null` without a cluster. */
  readonly clusterState: string | null;
  readonly requiresFullCoverage: boolean | null;
  readonly clock: ClockFacts | null;
};

/** @param sessions whether sessions are kept there, and not only counts, which may be lost. */
export const redisFindings = (facts: RedisFacts, sessions: boolean): Finding[] => [
  ok('redis.reachable', `Redis ${facts.version} responds at ${facts.address}.`),
  ...ofState(facts, sessions),
  ...(sessions
    ? [...evictionFindings(facts), ...persistenceFindings(facts), ...ofReplicas(facts), ...ofServer(facts)]
    : []),
];

const ofState = (
  { address, isReplica, clusterState, requiresFullCoverage }: RedisFacts,
  sessions: boolean,
): Finding[] => [
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
      `${address} reports that the cluster is not whole: some users cannot be served.`,
      'Bring the missing masters back, or assign their slots: `redis-cli --cluster check`.',
    ),
  ),
  ...when(sessions && requiresFullCoverage === true, () =>
    warning(
      'redis.full-coverage',
      `${address} has cluster-require-full-coverage yes: while one master is missing, nobody is served.`,
      'Set cluster-require-full-coverage no.',
    ),
  ),
];

const EVICTION = 'Set maxmemory-policy noeviction.';

const evictionFindings = ({ address, maxmemory, maxmemoryPolicy: policy }: RedisFacts): Finding[] => {
  if (policy === null) return [untold('redis.eviction', address, 'its eviction policy', EVICTION)];
  if (policy === 'noeviction') return [ok('redis.eviction', `${address} evicts no session (noeviction).`)];
  if (maxmemory === 0)
    return [
      warning(
        'redis.eviction',
        `${address} has maxmemory-policy ${policy}: as soon as maxmemory is set, sessions are evicted when it is full.`,
        EVICTION,
      ),
    ];
  return [
    problem(
      'redis.eviction',
      `${address} has maxmemory-policy ${policy}: when it is full, it evicts sessions, and their users are logged out.`,
      EVICTION,
    ),
  ];
};

const PERSIST = 'Set appendonly yes and appendfsync always.';

const persistenceFindings = (facts: RedisFacts): Finding[] => [
  ofPersistence(facts),
  ...when(!facts.isLastWriteOk, () =>
    problem(
      'redis.last-write',
      `${facts.address} reports that its last write to disk failed.`,
      'Look at its log: the disk may be full, or not writable.',
    ),
  ),
];

const ofPersistence = ({ address, appendonly, appendfsync, saves }: RedisFacts): Finding => {
  if (appendonly === null) return untold('redis.persistence', address, 'whether it writes to disk', PERSIST);
  if (!appendonly)
    return problem(
      'redis.persistence',
      saves === false
        ? `${address} stores nothing on disk: when it restarts, everybody is logged out.`
        : `${address} has appendonly no: when it restarts, what came after the last snapshot is lost, and users are logged out.`,
      PERSIST,
    );
  if (appendfsync === null) return untold('redis.persistence', address, 'appendfsync', PERSIST);
  if (appendfsync === 'always') return ok('redis.persistence', `${address} writes every change to disk at once.`);
  return warning(
    'redis.persistence',
    `${address} has appendfsync ${appendfsync}: a failure of the machine loses ${appendfsync === 'everysec' ? 'a second of' : 'the latest'} writes, and logs out users who refreshed then.`,
    'Set appendfsync always.',
  );
};

const MIN_REPLICAS = 'Set min-replicas-to-write 1, and have two replicas for each master.';

const ofReplicas = ({ address, replicas, minReplicasToWrite: minimum }: RedisFacts): Finding[] => {
  if (minimum !== null && minimum > replicas)
    return [
      problem(
        'redis.min-replicas',
        `${address} has ${replicas} replicas, and min-replicas-to-write ${minimum}: it refuses writes.`,
        'Bring the missing replicas back.',
      ),
    ];
  if (replicas === 0) return [];
  if (minimum === null) return [untold('redis.min-replicas', address, 'min-replicas-to-write', MIN_REPLICAS)];
  return when(minimum === 0, () =>
    warning(
      'redis.min-replicas',
      `${address} has replicas, and min-replicas-to-write 0: a failover can lose many writes, and revive sessions that were ended.`,
      MIN_REPLICAS,
    ),
  );
};

const MODERN = 7;

const ofServer = ({ address, version, idleTimeout }: RedisFacts): Finding[] => [
  ...when(Number.parseInt(version, 10) < MODERN, () =>
    note(
      'redis.version',
      `${address} is Redis ${version}: \`GET /health/ready\` does not notice when it refuses writes.`,
      'Update to Redis 7, or alert on status="500" of the metrics.',
    ),
  ),
  ...when(idleTimeout !== null && idleTimeout > 0, () =>
    warning(
      'redis.idle-time-out',
      `${address} disconnects clients after ${idleTimeout} s without a command: the request that comes then can fail.`,
      'Set timeout 0.',
    ),
  ),
];

const untold = (id: string, address: string, what: string, advice: string): Finding =>
  note(id, `${address} did not tell ${what}: this user may not ask.`, advice);
