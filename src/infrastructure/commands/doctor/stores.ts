import { accessSync } from 'node:fs';
import { Cluster, type Redis } from 'ioredis';
import { pino } from 'pino';
import { systemClock } from '../../../adapters/clock/system.ts';
import { reasonOf } from '../../../adapters/log/redact-error.ts';
import { type Database, openDatabase } from '../../../adapters/mikro-orm/open-database.ts';
import type { DatabaseOptions } from '../../../adapters/mikro-orm/options.ts';
import { SchemaError, type SchemaState } from '../../../adapters/mikro-orm/schema.ts';
import { evictionOf, infoOf, openRedis, type RedisInfo } from '../../../adapters/redis/open.ts';
import { NOT_PERMITTED, pingRedis } from '../../compose/redis-check.ts';
import type { Config } from '../../config.ts';
import { openSender } from '../../delivery.ts';
import { ANSWER_TIMEOUT_MS, type Finding, type Findings, note, ok, problem, type SetUp, warning } from './examine.ts';

/** Examines the database, or each node of a cluster, over one connection each, without changing its data. */
export const database = async (setUp: SetUp): Promise<Findings> => {
  const { database: options, migrateOnStart } = setUp.config;
  if (options.kind === 'sqlite')
    return fileExists(options.path) ? examineDatabase(options, setUp) : missingFinding(options.path, migrateOnStart);
  const { url, others = [] } = options;
  if (others.length === 0) return examineDatabase(options, setUp);
  const databaseNodeFindings = async (node: string): Promise<Finding[]> => {
    // With another entry in `others`, the node is checked as one of several: it has to be connected to its cluster.
    const findings = await examineDatabase({ ...options, url: node, others: [node] }, setUp);
    return [findings].flat().map((finding) => ({ ...finding, seen: `${new URL(node).host}: ${finding.seen}` }));
  };
  return (await Promise.all([url, ...others].map(databaseNodeFindings))).flat();
};

const examineDatabase = async (options: DatabaseOptions, { config, invalidNames }: SetUp): Promise<Findings> => {
  const opened = await openDatabase(withShortTimeouts(options), { migrate: false }).catch((error: Error) => error);
  if (opened instanceof SchemaError)
    return problem('database.unfit', opened.message, 'Copy what it has with `pg_dump --encoding=UTF8`.');
  if (opened instanceof Error)
    return problem(
      'database.unreachable',
      opened.message,
      options.kind === 'sqlite'
        ? 'Check the owner and the mode of the file and of its directory.'
        : 'Check that it runs, that this machine may reach it, its certificate, the role and the password.',
    );
  try {
    const findings = await findingsOf(opened, config);
    // If HOOK_PRIVATE_KEY is invalid, or the tables cannot be read, other findings say so, and webhooks are left out.
    if (invalidNames.has('HOOK_PRIVATE_KEY')) return findings;
    return [...findings, ...(await webhookFindings(opened, config).catch(() => []))];
  } finally {
    await opened.close();
  }
};

/** Whether a file exists. @throws Error of the operating system if that cannot be found out */
const fileExists = (path: string): boolean => {
  try {
    accessSync(path);
    return true;
  } catch (error) {
    if (error instanceof Error && Reflect.get(error, 'code') === 'ENOENT') return false;
    throw error;
  }
};

const withShortTimeouts = (options: DatabaseOptions): DatabaseOptions => {
  if (options.kind === 'sqlite') return options;
  const connectionTimeout = Math.min(options.connectionTimeout, ANSWER_TIMEOUT_MS);
  return { ...options, poolSize: 1, connectionTimeout, statementTimeout: ANSWER_TIMEOUT_MS };
};

const missingFinding = (path: string, migrateOnStart: boolean): Finding => {
  const [id, seen] = ['database.missing', `There is no database ${path} yet`];
  if (migrateOnStart) return note(id, `${seen}.`, 'Nothing: the first start creates it.');
  const why = 'and MIGRATE_ON_START is false: it would stay without tables.';
  return problem(id, `${seen}, ${why}`, 'Run `npx tandem migrate`.');
};

const findingsOf = async (
  { examine, ping, pingOtherTables: pingOthers, readTime }: Database,
  { migrateOnStart }: Config,
) => {
  const { version, mayCreate, schema } = await examine();
  const findings = [ok('database.reachable', `${version} responds.`)];
  if (!schema.pending.includes('tables'))
    await ping()
      .then(pingOthers)
      .catch(() => findings.push(READ_ONLY));
  if (schema.unknown.length > 0) {
    const seen = `The database has migrations that this version does not know: ${schema.unknown.join(', ')}.`;
    const advice = 'Run the newest version that has migrated it, on all instances.';
    findings.push(warning('database.newer', seen, advice));
  }
  findings.push(migrationsFinding(schema, migrateOnStart, mayCreate));
  if (readTime !== null) {
    const before = systemClock.now();
    findings.push(clockFinding(before, await readTime(), systemClock.now()));
  }
  return findings;
};

const READ_ONLY = problem(
  'database.read-only',
  'The database refuses to write, or a table is locked: requests that write to it fail.',
  'Set DATABASE_URL to the address of the writable server, and let the role write to all tables.',
);

const migrationsFinding = ({ pending }: SchemaState, migrateOnStart: boolean, mayCreate: boolean): Finding => {
  const id = 'database.migrations';
  if (pending.length === 0) return ok(id, 'All migrations of this version are applied.');
  const seen = `Not applied yet: ${pending.join(', ')}.`;
  if (migrateOnStart && mayCreate)
    return note(id, seen, 'Nothing: the next start applies them. Back up before an update.');
  const why = migrateOnStart ? 'The role may not create tables here' : 'MIGRATE_ON_START is false';
  return problem(id, `${seen} ${why}: no start applies them.`, 'Run `npx tandem migrate` with a role that may.');
};

/** Examines whether this instance can sign for all webhooks. Without webhooks, there is no finding. */
const webhookFindings = async ({ records }: Pick<Database, 'records'>, config: Config): Promise<Finding[]> => {
  const id = 'database.webhooks';
  const rows = await records.list('webhooks', { order: ['id'] });
  const senderFor = openSender(config, systemClock, new AbortController().signal);
  const senders = await Promise.all(rows.map(senderFor));
  const others = rows.filter((_row, at) => senders[at] === null).map((row) => row.id);
  if (rows.length === 0) return [];
  if (others.length === 0) return [ok(id, `The key of the hooks is that of all webhooks (${rows.length}).`)];
  return [
    warning(
      id,
      `This instance cannot sign for ${others.length} of ${rows.length} webhooks: they were added with another HOOK_PRIVATE_KEY. Their events wait for an instance that has it: ${others.join(', ')}.`,
      'Set the HOOK_PRIVATE_KEY with which they were added on all instances (`npx tandem keys hook --private` shows it where it is), or set yours on all of them and `npx tandem webhooks rotate` each.',
    ),
  ];
};

/** A difference of clocks up to this does not matter, since times in access tokens are whole seconds. */
const NOTICEABLE_MS = 1_000;

/**
 * Compares the clocks of this machine and of the database. The service uses the clock of the database, so a difference is only a warning.
 * @param other epoch milliseconds of the database, read between the times `before` and `after` of this machine
 */
export const clockFinding = (before: number, other: number, after: number): Finding => {
  const id = 'database.clock';
  const ahead = other - (before + after) / 2;
  const certainDifference = Math.abs(ahead) - (after - before) / 2;
  if (certainDifference <= NOTICEABLE_MS) return ok(id, 'The clocks of this machine and of the database agree.');
  const difference = `${(Math.abs(ahead) / 1_000).toFixed(1)} s ${ahead > 0 ? 'behind' : 'ahead of'}`;
  return warning(
    id,
    `The clock of this machine is ${difference} that of the database, which the service goes by: either its log has wrong times, or other services find wrong times in its tokens.`,
    'Synchronize the clocks of all machines with NTP: docs/deploy.md, "Several instances".',
  );
};

/** Examines a Redis server, or all masters of a cluster, with the commands that the service uses. */
export const redis = async ({ config: { redisUrl } }: SetUp): Promise<Findings> => {
  if (redisUrl === null)
    return note('redis.none', 'REDIS_URL is unset: each instance counts for itself.', 'Set it for several instances.');
  const client = await openRedis(redisUrl, pino({ level: 'silent' })).catch((error: Error) => error);
  if (client instanceof Error)
    return warning(
      'redis.unreachable',
      `${client.message}: each process counts limits for itself.`,
      'Check that Redis runs, that this machine may reach it, and the password.',
    );
  try {
    const nodes = client instanceof Cluster ? client.nodes('master') : [client];
    const findings = (await Promise.all(nodes.map(redisNodeFindings))).flat();
    const refusal = await pingRedis(client).then(() => null, reasonOf);
    if (refusal === null) return findings;
    if (refusal?.includes(NOT_PERMITTED)) return [...findings, MISSING_RIGHTS];
    const seen = `Redis does not accept all writes (${refusal}): each process counts some limits for itself.`;
    return [...findings, problem('redis.read-only', seen, 'Set REDIS_URL to a master; bring missing masters back.')];
  } finally {
    client.disconnect();
  }
};

/** Examines a server of Redis. If the user may not run INFO, the version and the eviction of keys are unknown. */
const redisNodeFindings = async (node: Redis): Promise<Finding[]> => {
  const { options, stream } = node;
  // With sentinels, the options lack the address of the master, but the connection has it.
  const [host, port] = options.sentinels ? [stream.remoteAddress, stream.remotePort] : [options.host, options.port];
  const address = `${host}:${port}`;
  const info = await infoOf(node).catch((): RedisInfo => new Map());
  const version = info.get('redis_version') ?? 'of an unknown version';
  const findings = [ok('redis.reachable', `Redis ${version} responds at ${address}.`)];
  const { policy, evicted } = evictionOf(info) ?? {};
  if (evicted === undefined) return findings;
  const seen = `${address} evicts keys when its memory is full (${policy}; ${evicted} so far): counts are lost, and limits can be passed.`;
  const finding = evicted > 0 ? problem : warning;
  return [...findings, finding('redis.eviction', seen, 'Set maxmemory-policy to noeviction.')];
};

const MISSING_RIGHTS = problem(
  'redis.rights',
  'The user of Redis may not run all commands that counting needs: each process counts for itself.',
  'Give the user the rights of docs/deploy.md, "Redis".',
);
