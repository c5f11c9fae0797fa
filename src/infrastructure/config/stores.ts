import { join } from 'node:path';
import * as v from 'valibot';
import type { DatabaseOptions, ServerOptions } from '../../adapters/mikro-orm/options.ts';
import { hostOf } from '../../adapters/redis/url.ts';
import { isFar, isLoopback, withHost } from './hosts.ts';
import { redisUrls, sentinelErrors } from './redis-url.ts';
import * as form from './schemas.ts';
import type { ServiceValues } from './service.ts';
import type { Env, Rule, ValuesOf, Variable } from './variable.ts';

const SERVERS = { postgres: 'postgresql', postgresql: 'postgresql', mariadb: 'mariadb', mysql: 'mysql' } as const;

const serverOf = (url: string): ServerOptions['kind'] | undefined =>
  SERVERS[/^[a-z]+(?=:)/.exec(url)?.[0] as keyof typeof SERVERS];

const isMysql = (url: string | undefined): url is string => ['mariadb', 'mysql'].includes(serverOf(url ?? '') ?? '');

const isServer = (text: string): boolean =>
  form.isUrlOf(
    text,
    Object.keys(SERVERS).map((name) => `${name}:`),
  );

/** A file of SQLite: `sqlite:path`, or `sqlite:///path` for one that begins with a slash. */
const SQLITE = /^sqlite:(?:\/\/(?=\/))?(?!\/\/)([^?#~][^?#]*)(?:\?synchronous=(normal|full))?$/;

const sqliteFile = (text: string): { readonly path: string; readonly synchronous: 'normal' | 'full' } | null => {
  const [, path = '', synchronous = 'normal'] = SQLITE.exec(text) ?? [];
  const isPath = path !== '' && path !== ':memory:' && v.is(form.path, path);
  return isPath ? { path, synchronous: synchronous === 'full' ? 'full' : 'normal' } : null;
};

export const STORE_VARIABLES = {
  DATA_DIR: {
    schema: form.path,
    expected: 'the path of a directory, without a leading ~ and without surrounding spaces',
    default: '.data',
    meaning:
      'The directory of the file of SQLite and of the keys that are generated outside production. Access by other users is removed from both.',
  },
  DATABASE_URL: {
    schema: v.optional(
      v.pipe(
        v.string(),
        v.transform((text) => (text.startsWith('sqlite:') ? text : withHost(text))),
        v.check((text) => sqliteFile(text) !== null || isServer(text)),
      ),
    ),
    expected:
      'a postgresql://, mariadb:// or mysql:// URL with special characters percent-encoded and with one host: one that follows the primary, such as that of a proxy before several servers, or with the directory of a socket as ?host=; or sqlite: and the path of a file',
    unset: 'a file of SQLite, database.sqlite in DATA_DIR',
    meaning:
      'The URL of the database: PostgreSQL, MariaDB, MySQL, or a file of SQLite as sqlite:path, with ?synchronous=full if each commit has to survive a loss of power. If a PostgreSQL URL has no password, PGPASSWORD is used.',
  },
  DATABASE_TABLE_PREFIX: {
    schema: v.optional(v.pipe(v.string(), v.regex(/^(?:[a-z][a-z0-9_]{0,30})?$/)), ''),
    expected: 'up to 31 small letters, digits and underscores, beginning with a letter',
    unset: 'none',
    meaning: 'How the names of the tables begin, so that they can stand beside those of an application: auth_.',
  },
  DATABASE_POOL_SIZE: {
    schema: form.wholeNumber(1, 1_000),
    expected: 'a whole number from 1 to 1000',
    default: '10',
    meaning: 'How many connections to the database server one instance keeps at most.',
  },
  MIGRATE_ON_START: {
    schema: form.flag,
    expected: 'true or false',
    default: 'true',
    meaning: 'Whether pending database migrations are applied at start.',
  },
  REDIS_URL: {
    schema: v.optional(redisUrls),
    expected:
      'a redis:// or rediss:// URL with special characters percent-encoded and no query parameter except family; the URLs of several nodes of a cluster, separated by commas, that differ only in host and port; or a URL such as redis+sentinel://user:password@host:port,host:port/master (rediss+sentinel:// with TLS)',
    unset: 'none: each instance counts for itself',
    meaning:
      'The Redis in which all instances count rate limits and failed log-ins: a server, a cluster by one of its nodes, or the master that sentinels name. Several URLs, separated by commas, are nodes of one cluster.',
  },
  BCRYPT_COST: {
    schema: form.wholeNumber(4, 15),
    expected: 'a whole number from 10 to 15, or from 4 outside production',
    default: '10',
    meaning:
      'The cost of password hashes; each increment doubles the time. Existing hashes of a lower cost are replaced at log-in.',
  },
} as const satisfies Record<string, Variable>;

type StoreValues = ValuesOf<typeof STORE_VARIABLES>;
/** The time limits of the database follow from that of a request. */
type Values = StoreValues & ServiceValues;

export const storeSettings = (values: Values) => ({
  database: databaseOptions(values),
  dataDir: values.DATA_DIR,
  migrateOnStart: values.MIGRATE_ON_START,
  /** One is a server or a node of a cluster, several are nodes of one cluster; empty without Redis. */
  redisUrls: values.REDIS_URL ?? [],
  /** SPEC "Password handling": 10. */
  bcryptCost: values.BCRYPT_COST,
  /** Which new passwords are rejected. */
  passwordBlocklist: values.NODE_ENV === 'production' ? ('common' as const) : ('off' as const),
});

/** The limits are far below that of a request, so that the request can still report a failure. */
const databaseOptions = (values: Values): DatabaseOptions => {
  const { DATABASE_URL: url, DATABASE_TABLE_PREFIX: tablePrefix, REQUEST_TIMEOUT_MS: timeout } = values;
  const kind = url === undefined ? undefined : serverOf(url);
  if (url === undefined || kind === undefined) {
    const file = sqliteFile(url ?? '') ?? { path: join(values.DATA_DIR, 'database.sqlite'), synchronous: 'normal' };
    return { kind: 'sqlite', ...file, tablePrefix };
  }
  const share = (part: number) => Math.max(1, Math.floor(timeout / part));
  return {
    kind,
    url,
    poolSize: values.DATABASE_POOL_SIZE,
    connectionTimeout: share(10),
    statementTimeout: share(6),
    idleTimeout: share(3),
    tablePrefix,
  };
};

/** Parameters of a URL that override the options of node-postgres. */
const OVERRIDING = ['statement_timeout', 'query_timeout', 'idle_in_transaction_session_timeout'];

export const storeErrors = (values: Partial<Values>): Rule[] => {
  const { DATABASE_URL: url } = values;
  const production = values.NODE_ENV === 'production';
  const given = url !== undefined ? OVERRIDING.find((name) => new URL(url).searchParams.has(name)) : undefined;
  return [
    [production && (values.BCRYPT_COST ?? 10) < 10, 'BCRYPT_COST: must be at least 10 in production'],
    [
      url !== undefined && /,|%2c/i.test(new URL(url).host + (new URL(url).searchParams.get('host') ?? '')),
      'DATABASE_URL: must name one host: one that follows the primary, such as that of a proxy before several servers',
    ],
    [
      url !== undefined && new URL(url).searchParams.has('target_session_attrs'),
      'DATABASE_URL: must not set target_session_attrs: its host has to be one that follows the primary',
    ],
    [
      isMysql(url) && [...new URL(url).searchParams].some(([name, value]) => name !== 'ssl' || value !== 'true'),
      'DATABASE_URL: MariaDB and MySQL have no parameter but ?ssl=true, which is TLS with a verified certificate',
    ],
    ...sentinelErrors(values.REDIS_URL ?? []),
    [given !== undefined, `DATABASE_URL: must not set ${given}: a statement gets a sixth of REQUEST_TIMEOUT_MS`],
  ];
};

export const storeWarnings = (values: Values): Rule[] => {
  const production = values.NODE_ENV === 'production';
  const redis = (values.REDIS_URL ?? []).map((text) => new URL(text));
  return [
    [
      production && redis.some((url) => !isLoopback(hostOf(url)) && url.password === ''),
      'REDIS_URL has no password: any client that reaches that Redis can reset limits',
    ],
    [
      production && redis.some((url) => !url.protocol.startsWith('rediss') && isFar(hostOf(url))),
      'REDIS_URL is redis:, not rediss:: the password and all data are sent unencrypted',
    ],
  ];
};

/** @param env has the variables that the driver reads itself. */
export const databaseWarnings = ({ NODE_ENV, DATABASE_URL: url }: Values, env: Env): Rule[] => {
  const production = NODE_ENV === 'production';
  return [
    [
      production && serverOf(url ?? '') === undefined,
      `${url === undefined ? 'DATABASE_URL is unset' : 'DATABASE_URL names a file'}: SQLite is for one process on one machine`,
    ],
    [
      production && serverOf(url ?? '') === 'postgresql' && isInsecure(url ?? '', env.PGSSLMODE),
      'DATABASE_URL does not require TLS with a verified certificate: an attacker on the network can read and change the data (use sslmode=verify-full)',
    ],
    [
      production && isMysql(url) && isFar(hostOf(new URL(url))) && !new URL(url).searchParams.has('ssl'),
      'DATABASE_URL does not require TLS with a verified certificate: an attacker on the network can read and change the data (use ?ssl=true)',
    ],
  ];
};

/**
 * Whether an attacker on the network could read the traffic to PostgreSQL, or impersonate it.
 * @param environment PGSSLMODE, which node-postgres uses when the URL does not configure TLS.
 */
const isInsecure = (url: string, environment: string | undefined): boolean => {
  const parsed = new URL(url);
  const given = (name: string) => parsed.searchParams.get(name) ?? undefined;
  const host = given('host') ?? hostOf(parsed);
  const mode = given('sslmode') ?? (given('ssl') === undefined ? environment : undefined);
  if (mode === 'disable') return !isLoopback(host);
  const names = given('sslcert') ?? given('sslkey') ?? given('sslrootcert') ?? mode;
  const isEncrypted = names !== undefined || /^(?:true|1)$/.test(given('ssl') ?? '');
  const checksNothing =
    mode === 'no-verify' || (given('uselibpqcompat') === 'true' && (mode === 'prefer' || mode === 'require'));
  return isFar(host) && (!isEncrypted || checksNothing);
};
