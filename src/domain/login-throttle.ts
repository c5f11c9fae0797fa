/**
 * The limit on failed attempts that are counted together (`Attempt.key`), such as wrong passwords for an account (ADR 0008). Times are milliseconds.
 *
 * The first `FREE_FAILURES` need no wait. Then each failing client, or failing group of clients, has a bucket for one attempt. The more of them fail,
 * the longer each waits: together, they have one attempt in each wait, up to `LONGEST_WAIT`. All other networks share one more bucket. Other devices
 * need not wait.
 */

/** How many failed attempts, of all clients together, need no wait. */
export const FREE_FAILURES = 50;
/** Milliseconds. Each failure beyond `FREE_FAILURES` doubles the wait, up to `LONGEST_WAIT`. */
const FIRST_WAIT = 1_000;
const LONGEST_WAIT = 60_000;
/** Milliseconds in which the failures of a client count after its last attempt. */
export const FAILURE_TTL = 3_600_000;
/** From this number of failures on, a client is failing. */
const CLIENT_LIMIT = 3;

/** The network or the device from which somebody enters a password or a code. Names contain no space. */
export type ThrottledClient = {
  readonly kind: 'network' | 'device';
  /** The groups that the client belongs to, the widest first, then the client itself. */
  readonly names: readonly string[];
};

/**
 * From this number of failures on, a group counts as one failing client. The last limit is that of the client itself. Each client adds at most
 * `CLIENT_LIMIT` failures to its groups, so that one client alone does not make a group failing.
 * - networks: /32, /48 and /64 of IPv6; /16, /24 and the address of IPv4
 * - devices: all devices of the user, of which at most 50 have a live session (ADR 0005), and each of them
 */
const GROUP_LIMITS: Readonly<Record<ThrottledClient['kind'], readonly number[]>> = {
  network: [4 * CLIENT_LIMIT, 2 * CLIENT_LIMIT, CLIENT_LIMIT],
  device: [50 * CLIENT_LIMIT, CLIENT_LIMIT],
};

export const throttledDevice = (name: string): ThrottledClient => ({ kind: 'device', names: ['devices', name] });

/** The key of a client. The keys of its groups are prefixes of it. */
export const clientKey = ({ names }: ThrottledClient): string => names.map((name) => `${name} `).join('');

/** The attempts that are counted together. Each counts as a failure until it succeeds or is withdrawn. */
export type LoginThrottle = {
  readonly lastAt: number;
  /** The failures of each client, by its `clientKey`. About 250 entries at most, since no more failures are admitted in an hour. */
  readonly clients: ReadonlyMap<string, { readonly failures: number; readonly lastAt: number }>;
  /** When each bucket was last used, by the key of its failing client or group, or by `SHARED_BUCKET`. */
  readonly buckets: ReadonlyMap<string, number>;
};

/** The bucket of all clients that are not failing, and are in no failing group. */
const SHARED_BUCKET = '';

/** Milliseconds until an attempt of this client is admitted; 0 if it is admitted now. */
export const waitingTime = (throttle: LoginThrottle | null, client: ThrottledClient, now: number): number => {
  const { clients, buckets } = withoutOldFailures(throttle, now);
  const excess = [...clients.values()].reduce((sum, { failures }) => sum + failures, 0) - FREE_FAILURES;
  if (excess < 0) return 0;
  const groupFailures = countByGroup(clients);
  const bucket = bucketOf(clientKey(client), client.kind, groupFailures);
  if (bucket === SHARED_BUCKET && client.kind === 'device') return 0;
  const failingCount = failingClients(bucket, clients, client.kind, groupFailures);
  const wait = Math.min(LONGEST_WAIT, FIRST_WAIT * 2 ** excess) * failingCount;
  const sinceLastUse = now - (buckets.get(bucket) ?? Number.NEGATIVE_INFINITY);
  // `sinceLastUse` is negative if the clock was set back.
  return sinceLastUse < 0 ? 0 : Math.max(0, wait - sinceLastUse);
};

/** The throttle after an attempt has begun, which counts as a failure. */
export const withAttempt = (throttle: LoginThrottle | null, client: ThrottledClient, now: number): LoginThrottle => {
  const before = withoutOldFailures(throttle, now);
  const key = clientKey(client);
  const failures = (before.clients.get(key)?.failures ?? 0) + 1;
  const clients = new Map(before.clients).set(key, { failures, lastAt: now });
  const usedBuckets = [before.clients, clients].map((each) => bucketOf(key, client.kind, countByGroup(each)));
  return {
    lastAt: now,
    clients,
    buckets: new Map([...before.buckets, ...usedBuckets.map((bucket) => [bucket, now] as const)]),
  };
};

export const withoutAttempt = (throttle: LoginThrottle, client: ThrottledClient): LoginThrottle => {
  const key = clientKey(client);
  const failed = throttle.clients.get(key);
  if (failed === undefined) return throttle;
  const clients = new Map(throttle.clients);
  if (failed.failures === 1) clients.delete(key);
  else clients.set(key, { ...failed, failures: failed.failures - 1 });
  const buckets = new Map(throttle.buckets);
  buckets.delete(bucketOf(key, client.kind, countByGroup(clients)));
  return { ...throttle, clients, buckets };
};

/** The throttle after an attempt that has succeeded: earlier failures of its client no longer count. */
export const withoutFailures = (throttle: LoginThrottle, client: ThrottledClient): LoginThrottle => {
  const { clients, ...rest } = withoutAttempt(throttle, client);
  const key = clientKey(client);
  return { ...rest, clients: new Map([...clients].filter(([each]) => each !== key)) };
};

/** Whether no failure counts any more, so that the throttle can be deleted. */
export const isObsolete = ({ clients, lastAt }: LoginThrottle, now: number): boolean =>
  clients.size === 0 || now - lastAt >= FAILURE_TTL;

type Clients = LoginThrottle['clients'];

const withoutOldFailures = (
  throttle: LoginThrottle | null,
  now: number,
): Pick<LoginThrottle, 'clients' | 'buckets'> => ({
  clients: new Map([...(throttle?.clients ?? [])].filter(([, { lastAt }]) => now - lastAt < FAILURE_TTL)),
  buckets: new Map([...(throttle?.buckets ?? [])].filter(([, usedAt]) => now - usedAt < FAILURE_TTL)),
});

/** The keys of a client's groups, the widest first, and then the key of the client: each is a prefix of the next. */
const groupsOf = (key: string): string[] => {
  const groups: string[] = [];
  for (let end = key.indexOf(' '); end >= 0; end = key.indexOf(' ', end + 1)) groups.push(key.slice(0, end + 1));
  return groups;
};

const countByGroup = (clients: Clients): ReadonlyMap<string, number> => {
  const count = new Map<string, number>();
  for (const [key, { failures }] of clients) {
    for (const group of groupsOf(key)) count.set(group, (count.get(group) ?? 0) + Math.min(failures, CLIENT_LIMIT));
  }
  return count;
};

/** The name of the bucket that a client uses: the key of its widest failing group, or else `SHARED_BUCKET`. */
const bucketOf = (key: string, kind: ThrottledClient['kind'], groupFailures: ReadonlyMap<string, number>): string => {
  const groups = groupsOf(key);
  const limits = GROUP_LIMITS[kind].slice(-groups.length);
  return groups.find((group, at) => (groupFailures.get(group) ?? 0) >= (limits[at] ?? CLIENT_LIMIT)) ?? SHARED_BUCKET;
};

/** The number of failing clients and groups that share the rate of attempts with this bucket; 1 for `SHARED_BUCKET`. */
const failingClients = (
  bucket: string,
  clients: Clients,
  kind: ThrottledClient['kind'],
  groupFailures: ReadonlyMap<string, number>,
): number => {
  if (bucket === SHARED_BUCKET) return 1;
  const buckets = new Set([...clients.keys()].map((key) => bucketOf(key, kind, groupFailures)));
  buckets.delete(SHARED_BUCKET);
  return buckets.size;
};
