import * as v from 'valibot';
import * as form from './schemas.ts';
import { ENVIRONMENTS, unlessProduction, type Variable } from './variable.ts';

const MAX_TIMER = 2 ** 31 - 1;
const ORIGINS = 'origins as browsers send them, such as https://app.example.com, separated by commas; no *, no path';
const RATE_LIMIT = 'requests/seconds such as 100/60, at most 86400 seconds, or off';
const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

/** Settings of the process, its clients and its stores. */
export const SERVICE_VARIABLES = {
  NODE_ENV: {
    schema: v.picklist(ENVIRONMENTS),
    expected: ENVIRONMENTS.join(', '),
    default: 'development',
    meaning: 'The environment: development, production or test. Production refuses what is not safe there.',
  },
  HOST: {
    schema: form.host,
    expected: 'an IP address or a host name',
    default: unlessProduction('127.0.0.1', '0.0.0.0'),
    meaning: 'The address to listen on.',
  },
  PORT: {
    schema: form.wholeNumber(0, 65_535),
    expected: 'a whole number from 0 to 65535',
    default: '3000',
    meaning: 'The TCP port to listen on; 0 takes any free one.',
  },
  BASE_URL: {
    schema: v.optional(form.baseUrl),
    expected: 'an http or https URL without credentials, query and fragment',
    unset: 'http://localhost:$PORT',
    meaning:
      'Where clients reach the service, with the path that a proxy puts in front; the `type` of every error begins with it.',
  },
  ALLOWED_ORIGINS_DEV: {
    schema: v.optional(form.origins, ''),
    expected: ORIGINS,
    unset: 'none',
    meaning: 'Origins that browsers may call from outside production, separated by commas.',
  },
  ALLOWED_ORIGINS_PROD: {
    schema: v.optional(form.origins, ''),
    expected: ORIGINS,
    unset: 'none',
    meaning: 'Origins that browsers may call from in production, separated by commas.',
  },
  TRUST_PROXY: {
    schema: form.wholeNumber(0, 100),
    expected: 'a whole number from 0 to 100',
    default: '0',
    meaning: 'How many proxies stand in front; client addresses are read from X-Forwarded-For that many hops back.',
  },
  REQUEST_TIMEOUT_MS: {
    schema: form.wholeNumber(1, MAX_TIMER),
    expected: `a whole number of milliseconds from 1 to ${MAX_TIMER}`,
    default: '30000',
    meaning: 'How long a handler may take, in milliseconds.',
  },
  SLOW_REQUEST_THRESHOLDS: {
    schema: form.thresholds,
    expected: 'JSON such as {"warn":1000,"error":3000}: whole milliseconds, warn not above error',
    default: '{"warn":1000,"error":3000}',
    meaning: 'From which durations on, in milliseconds, a request is logged at warn and at error.',
  },
  RATE_LIMIT_GLOBAL: {
    schema: form.rateLimit,
    expected: RATE_LIMIT,
    default: unlessProduction('500/60', '100/60'),
    meaning: 'The limit of most routes, as requests/seconds for each client and route, or off.',
  },
  RATE_LIMIT_STRICT: {
    schema: form.rateLimit,
    expected: RATE_LIMIT,
    default: unlessProduction('100/60', '20/60'),
    meaning: 'The limit of log-in and other sensitive routes.',
  },
  RATE_LIMIT_PUBLIC: {
    schema: form.rateLimit,
    expected: RATE_LIMIT,
    default: unlessProduction('off', '1000/300'),
    meaning: 'The limit of public routes such as the catalog of errors.',
  },
  LOG_LEVEL: {
    schema: v.picklist(LOG_LEVELS),
    expected: LOG_LEVELS.join(', '),
    default: { development: 'debug', production: 'info', test: 'info' },
    meaning: 'The least level that is logged: trace, debug, info, warn, error, fatal or silent.',
  },
  METRICS: {
    schema: form.metrics,
    expected: 'off, a port such as 9464, or an address and a port such as 0.0.0.0:9464',
    default: 'off',
    meaning: 'Where Prometheus finds GET /metrics: a port of 127.0.0.1, or address:port; never that of the service.',
  },
  DATA_DIR: {
    schema: form.path,
    expected: 'the path of a directory, without ~ at its beginning and without spaces around it',
    default: '.data',
    meaning:
      'The directory of the embedded database and of the keys that development makes for itself; both are made private.',
  },
  DATABASE_URL: {
    schema: v.optional(form.databaseUrl),
    expected: 'a postgres:// or postgresql:// URL with special characters percent-encoded, or memory:',
    unset: 'an embedded database in DATA_DIR',
    meaning:
      'The PostgreSQL database; a password that is not in it is read from PGPASSWORD. `memory:` keeps nothing, and production refuses it.',
  },
  MIGRATE_ON_START: {
    schema: form.flag,
    expected: 'true or false',
    default: 'true',
    meaning: "Whether the database's schema is brought up to date at start.",
  },
  REDIS_URL: {
    schema: v.optional(form.redisUrls),
    expected:
      'a redis:// or rediss:// URL with special characters percent-encoded and no query but family, or one for each of several nodes of a cluster, separated by commas, alike but for their hosts',
    unset: 'limits are counted in the process',
    meaning:
      'The Redis that counts rate limits for all instances together; several URLs, separated by commas, are one cluster.',
  },
  REDIS_PASSWORD: {
    schema: v.optional(form.password),
    expected: 'a password as it is, not percent-encoded, without control characters',
    unset: 'what REDIS_URL says',
    meaning: 'The password of Redis, as it is, when REDIS_URL holds none.',
  },
  SESSION_STORE: {
    schema: v.picklist(['database', 'redis']),
    expected: 'database or redis',
    default: 'database',
    meaning: 'Where sessions are kept: database or redis.',
  },
} as const satisfies Record<string, Variable>;
