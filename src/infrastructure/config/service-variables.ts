import * as v from 'valibot';
import { isStorageUrl, STORAGE_TEXTS } from '../storages/storages.ts';
import * as form from './schemas.ts';
import { ENVIRONMENTS, unlessProduction, type Variable } from './variable.ts';

const MAX_TIMER = 2 ** 31 - 1;
const ORIGINS = 'origins such as https://app.example.com, separated by commas, without a path and without *';
const RATE_LIMIT = 'requests/seconds such as 100/60, at most 86400 seconds, or off';
const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

/** Settings of the process, its clients and its stores. */
export const SERVICE_VARIABLES = {
  NODE_ENV: {
    schema: v.picklist(ENVIRONMENTS),
    expected: ENVIRONMENTS.join(', '),
    default: 'development',
    meaning: 'The environment: development, production or test. Production rejects unsafe settings.',
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
    meaning: 'The TCP port to listen on; 0 for any free port.',
  },
  BASE_URL: {
    schema: v.optional(form.baseUrl),
    expected: 'an http or https URL without credentials, query and fragment',
    unset: 'http://localhost:$PORT',
    meaning:
      'The public URL of the service, with the path that a proxy adds. The `type` of every error starts with it.',
  },
  ALLOWED_ORIGINS_DEV: {
    schema: v.optional(form.origins, ''),
    expected: ORIGINS,
    unset: 'none',
    meaning:
      'Outside production: the origins whose pages may call the service, separated by commas. The pages for links in mail lead to the first one.',
  },
  ALLOWED_ORIGINS_PROD: {
    schema: v.optional(form.origins, ''),
    expected: ORIGINS,
    unset: 'none',
    meaning:
      'In production: the origins whose pages may call the service, separated by commas. The pages for links in mail lead to the first one.',
  },
  CONSOLE: {
    schema: v.picklist(['on', 'off']),
    expected: 'on or off',
    default: unlessProduction('on', 'off'),
    meaning: 'Whether the service has the page /console, for developers: on or off.',
  },
  TRUST_PROXY: {
    schema: form.wholeNumber(0, 100),
    expected: 'a whole number from 0 to 100',
    default: '0',
    meaning:
      'The number of proxies in front of the service. It determines which entry of X-Forwarded-For is the client address.',
  },
  REQUEST_TIMEOUT_MS: {
    schema: form.wholeNumber(1, MAX_TIMER),
    expected: `a whole number of milliseconds from 1 to ${MAX_TIMER}`,
    default: '30000',
    meaning:
      'The time limit for receiving a request, for handling it and for sending the response, each in milliseconds.',
  },
  SLOW_REQUEST_THRESHOLDS: {
    schema: form.thresholds,
    expected: 'JSON such as {"warn":1000,"error":3000}, in whole milliseconds, with warn at most error',
    default: '{"warn":1000,"error":3000}',
    meaning: 'The durations, in milliseconds, from which a request is logged at warn and at error.',
  },
  RATE_LIMIT_GLOBAL: {
    schema: form.rateLimit,
    expected: RATE_LIMIT,
    default: unlessProduction('500/60', '100/60'),
    meaning: 'The rate limit of most routes: requests/seconds for each client and route, or off.',
  },
  RATE_LIMIT_STRICT: {
    schema: form.rateLimit,
    expected: RATE_LIMIT,
    default: unlessProduction('100/60', '20/60'),
    meaning: 'The rate limit of registration, log-in and password change.',
  },
  RATE_LIMIT_PUBLIC: {
    schema: form.rateLimit,
    expected: RATE_LIMIT,
    default: unlessProduction('off', '1000/300'),
    meaning: 'The rate limit of the error catalog, the key set and the health checks.',
  },
  LOG_LEVEL: {
    schema: v.picklist(LOG_LEVELS),
    expected: LOG_LEVELS.join(', '),
    default: { development: 'debug', production: 'info', test: 'info' },
    meaning: 'The lowest level that is logged: trace, debug, info, warn, error, fatal or silent.',
  },
  METRICS: {
    schema: form.metrics,
    expected: 'off, a port such as 9464, or an address and a port such as 0.0.0.0:9464',
    default: 'off',
    meaning:
      'The address of GET /metrics for Prometheus: a port on 127.0.0.1, or address:port. Not the port of the service.',
  },
  DATA_DIR: {
    schema: form.path,
    expected: 'the path of a directory, without a leading ~ and without surrounding spaces',
    default: '.data',
    meaning:
      'The directory of the embedded database and of the keys that are generated outside production. Access by other users is removed from both.',
  },
  DATABASE_URL: {
    schema: v.optional(v.pipe(v.string(), v.check(isStorageUrl))),
    ...STORAGE_TEXTS,
  },
  MIGRATE_ON_START: {
    schema: form.flag,
    expected: 'true or false',
    default: 'true',
    meaning: 'Whether pending database migrations are applied at start.',
  },
  REDIS_URL: {
    schema: v.optional(form.redisUrls),
    expected:
      'a redis:// or rediss:// URL with special characters percent-encoded and no query parameter except family, or the URLs of several nodes of a cluster, separated by commas, that differ only in host and port',
    unset: 'none: each instance counts for itself',
    meaning:
      'The Redis in which all instances count rate limits and failed log-ins: a server, or a cluster by one of its nodes. Several URLs, separated by commas, are nodes of one cluster.',
  },
  REDIS_PASSWORD: {
    schema: v.optional(form.password),
    expected: 'a password without control characters, not percent-encoded',
    unset: 'the password in REDIS_URL',
    meaning: 'The password of Redis, not percent-encoded, if REDIS_URL has none.',
  },
} as const satisfies Record<string, Variable>;
