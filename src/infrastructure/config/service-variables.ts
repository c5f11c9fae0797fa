import * as format from './formats.ts';
import { byEnvironment } from './formats.ts';
import { databaseUrl, redisUrls } from './server-urls.ts';
import * as url from './urls.ts';

export const RATE_LIMITS = byEnvironment(
  'global=500/60,strict=100/60,public=off',
  'global=100/60,strict=20/60,public=1000/300',
);

export const SERVICE_VARIABLES = {
  NODE_ENV: {
    format: format.oneOf('development', 'production', 'test'),
    default: 'development',
    meaning: 'The environment: development, production or test. Production rejects unsafe settings.',
  },
  WORKERS: {
    format: format.wholeNumber(1, 256),
    default: '1',
    meaning:
      'How many processes serve requests on the port: one for each core that they may use. Together they are one instance, but DATABASE_POOL_SIZE is for each of them. More than one need REDIS_URL.',
  },
  HOST: {
    format: format.address,
    default: byEnvironment('127.0.0.1', '0.0.0.0'),
    meaning: 'The address to listen on.',
  },
  PORT: {
    format: format.wholeNumber(0, 65_535),
    default: '3000',
    meaning: 'The TCP port to listen on; 0 for any free port.',
  },
  BASE_URL: {
    format: url.baseUrl,
    unset: 'http://localhost:$PORT',
    meaning:
      'The public URL of the service, with the path that a proxy adds. The `type` of every error starts with it.',
  },
  ALLOWED_ORIGINS_DEV: {
    format: url.origins,
    default: '',
    meaning:
      'Outside production: the origins whose pages may call the service, separated by commas. From the pages of links in mail, users get to the first of these origins that is of a website.',
  },
  ALLOWED_ORIGINS_PROD: {
    format: url.origins,
    default: '',
    meaning:
      'In production: the origins whose pages may call the service, separated by commas. From the pages of links in mail, users get to the first of these origins that is of a website.',
  },
  APP_LINKS: {
    format: url.appLinks,
    default: '',
    meaning:
      'Links that open your apps, separated by commas. The pages for users lead to them with a code, for which the app gets a session: https://app.example.com/signed-in, which the app has claimed, or com.example.app:/signed-in.',
  },
  NATIVE_APPS: {
    format: url.nativeApps,
    default: '',
    meaning:
      'Your apps that use passkeys, separated by commas: android:com.example.app:14:6D:…, with the SHA-256 of the certificate, or apple:ABCDE12345.com.example.app. /.well-known/assetlinks.json and /.well-known/apple-app-site-association name them.',
  },
  WEBAUTHN_RP_ID: {
    format: format.domain,
    unset: 'the host of BASE_URL',
    meaning:
      'The domain that passkeys belong to: the host of BASE_URL, or a domain above it. After a change, no passkey works any more.',
  },
  WEBAUTHN_ORIGINS: {
    format: url.passkeyOrigins,
    default: '',
    meaning:
      'Origins that may use passkeys besides that of BASE_URL and the allowed ones, for example that of an app that is not in NATIVE_APPS: android:apk-key-hash:….',
  },
  PASSKEYS_PAGE_URL: {
    format: url.pageUrl,
    unset: 'the page of the service, if it has pages for users',
    meaning:
      'The page of your application on which users add and remove passkeys: password managers find it in /.well-known/passkey-endpoints.',
  },
  ALLOWED_HEADERS: {
    format: url.headerNames,
    default: '',
    meaning:
      'Names of request headers that pages may send besides Content-Type, Authorization and svc-request-id, such as those of tracing: traceparent, which the service reads; baggage and sentry-trace, which it ignores.',
  },
  TRUST_PROXY: {
    format: format.wholeNumber(0, 100),
    default: '0',
    meaning:
      'The number of proxies in front of the service. It determines which entry of X-Forwarded-For is the client address.',
  },
  REQUEST_TIMEOUT_MS: {
    format: format.milliseconds(1, 2 ** 31 - 1),
    default: '30000',
    meaning:
      'The time limit in milliseconds, once for receiving a request and once for handling it. To open a connection to a database server takes at most a tenth of it, a statement a sixth.',
  },
  SHUTDOWN_DELAY: {
    format: format.durationFromZero('1m'),
    default: byEnvironment('0', '5s'),
    meaning:
      'How long the service still takes requests after SIGTERM, while GET /health/ready responds 503, so that proxies stop sending it any.',
  },
  SLOW_REQUEST_THRESHOLDS: {
    format: format.thresholds,
    default: '{"warn":1000,"error":3000}',
    meaning: 'The durations, in milliseconds, from which a request is logged at warn and at error.',
  },
  RATE_LIMITS: {
    format: format.rateLimits,
    default: RATE_LIMITS,
    meaning:
      'The rate limits for each client and route, as requests/seconds. strict is for registration, log-in and changes that need the password, for instance; public for documents such as the key set, the error catalog and GET /auth/gateway; global for all others, except health checks, which have none. A limit that is not named keeps its default. off turns one or all off.',
  },
  LOG_LEVEL: {
    format: format.oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'),
    default: { development: 'debug', production: 'info', test: 'info' },
    meaning: 'The lowest level that is logged: trace, debug, info, warn, error, fatal or silent.',
  },
  METRICS: {
    format: format.metricsAddress,
    default: 'off',
    meaning:
      'The address of GET /metrics for Prometheus: a port on 127.0.0.1, or address:port. The port must not be that of the service.',
  },
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    format: url.baseUrl,
    unset: 'none: no spans',
    meaning:
      'The URL of an OpenTelemetry collector that takes OTLP over HTTP, such as http://localhost:4318. Spans of requests are sent to it.',
  },
  OTEL_EXPORTER_OTLP_PROTOCOL: {
    format: format.oneOf('http/json', 'http/protobuf'),
    default: 'http/json',
    meaning:
      'How spans are sent: http/json, or http/protobuf for a receiver that takes nothing else, which costs the service more.',
  },
  OTEL_TRACES_SAMPLER: {
    format: format.oneOf(...format.SAMPLERS),
    default: 'always_on',
    meaning:
      'Which requests have spans: always_on, always_off, or traceidratio for a random part. With parentbased_ before one of these, the header traceparent of a request decides, which anybody can send; for requests without it, the rest of the name decides.',
  },
  OTEL_TRACES_SAMPLER_ARG: {
    format: format.ratio,
    default: '1',
    meaning: 'With traceidratio, the part of the requests that have spans, from 0 to 1.',
  },
  DATA_DIR: {
    format: format.path,
    default: '.data',
    meaning:
      'The directory of the file of SQLite, of generated keys, and outside production of mail that is not sent. The service makes these files inaccessible to other users of the machine.',
  },
  DATABASE_URL: {
    format: databaseUrl,
    secret: true,
    unset: 'a file of SQLite, database.sqlite in DATA_DIR',
    meaning:
      'The URL of the database: PostgreSQL, MariaDB, MySQL (all nodes of a Galera cluster, separated by commas, the preferred one first), or a file of SQLite as sqlite:path, with ?synchronous=full if each commit has to survive a loss of power. If a PostgreSQL URL has no password, PGPASSWORD is used.',
  },
  DATABASE_TABLE_PREFIX: {
    format: format.tablePrefix,
    default: '',
    meaning: 'How the names of the tables begin, so that they can stand beside those of an application: auth_.',
  },
  DATABASE_POOL_SIZE: {
    format: format.wholeNumber(1, 1_000),
    default: '10',
    meaning: 'How many connections to the database server one process keeps at most.',
  },
  MIGRATE_ON_START: {
    format: format.flag,
    default: 'true',
    meaning: 'Whether pending database migrations are applied at start.',
  },
  REDIS_URL: {
    format: redisUrls,
    secret: true,
    unset: 'none: each instance counts for itself',
    meaning:
      'The Redis in which all instances count rate limits and failed log-ins: a server, a cluster by one of its nodes, or the master that sentinels name. Several URLs, separated by commas, are nodes of one cluster.',
  },
  BCRYPT_COST: {
    format: format.wholeNumber(4, 15),
    default: '10',
    meaning:
      'The cost of password hashes; each increment doubles the time. Existing hashes of a lower cost are replaced at log-in.',
  },
} as const satisfies Record<string, format.Variable>;
