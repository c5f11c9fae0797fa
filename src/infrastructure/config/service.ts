import * as v from 'valibot';
import { hostOf } from '../../adapters/redis/url.ts';
import { isLoopback, isPlainHttp } from './hosts.ts';
import { headerNames, isOfProgram, origins, passkeyOrigins } from './origins.ts';
import * as form from './schemas.ts';
import { ENVIRONMENTS, type Rule, unlessProduction, type ValuesOf, type Variable } from './variable.ts';

const MAX_TIMER = 2 ** 31 - 1;
const MINUTE = 60_000;
const ORIGINS =
  'origins such as https://app.example.com or capacitor://localhost, separated by commas, without a path and *; not null or file://, which pages of anybody have';
const RATE_LIMITS = unlessProduction(
  'global=500/60,strict=100/60,public=off',
  'global=100/60,strict=20/60,public=1000/300',
);
const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

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
    schema: v.optional(origins, ''),
    expected: ORIGINS,
    unset: 'none',
    meaning:
      'Outside production: the origins whose pages may call the service, separated by commas. The pages for links in mail lead to the first one of a website.',
  },
  ALLOWED_ORIGINS_PROD: {
    schema: v.optional(origins, ''),
    expected: ORIGINS,
    unset: 'none',
    meaning:
      'In production: the origins whose pages may call the service, separated by commas. The pages for links in mail lead to the first one of a website.',
  },
  WEBAUTHN_RP_ID: {
    schema: v.optional(form.domain),
    expected: 'a domain in lower case, without scheme and port, such as example.com',
    unset: 'the host of BASE_URL',
    meaning:
      'The domain that passkeys belong to: the host of BASE_URL, or a domain above it. After a change, no passkey works any more.',
  },
  WEBAUTHN_ORIGINS: {
    schema: v.optional(passkeyOrigins, ''),
    expected:
      'origins such as https://app.example.com or android:apk-key-hash:… with 43 characters of base64url, separated by commas',
    unset: 'none',
    meaning:
      'Origins that may use passkeys besides that of BASE_URL and the allowed ones: those of apps, for example android:apk-key-hash:….',
  },
  PASSKEYS_PAGE_URL: {
    schema: v.optional(form.pageUrl),
    expected: 'an http or https URL without credentials and fragment',
    unset: 'none',
    meaning:
      'The page of your application on which users add and remove passkeys: password managers find it in /.well-known/passkey-endpoints.',
  },
  ALLOWED_HEADERS: {
    schema: v.optional(headerNames, ''),
    expected: 'names of headers such as traceparent, separated by commas, without *',
    unset: 'none',
    meaning:
      'Names of request headers that pages may send besides Content-Type, Authorization and svc-request-id, such as those of tracing: traceparent, baggage, sentry-trace. The service ignores them.',
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
      'The time limit for receiving a request, for handling it and for sending the response, each in milliseconds. A connection to PostgreSQL gets a tenth of it, a statement a sixth.',
  },
  SHUTDOWN_DELAY: {
    schema: form.durationFromZeroTo(MINUTE),
    expected: 'a duration such as 5s, at most 1m, or 0',
    default: unlessProduction('0', '5s'),
    meaning:
      'How long the service still takes requests after SIGTERM, while GET /health/ready responds 503, so that proxies stop sending it any.',
  },
  SLOW_REQUEST_THRESHOLDS: {
    schema: form.thresholds,
    expected: 'JSON such as {"warn":1000,"error":3000}, in whole milliseconds, with warn at most error',
    default: '{"warn":1000,"error":3000}',
    meaning: 'The durations, in milliseconds, from which a request is logged at warn and at error.',
  },
  RATE_LIMITS: {
    schema: form.rateLimits,
    expected:
      'one or more of global, strict and public, each with requests/seconds such as 100/60 (at most 86400 seconds) or off: global=100/60,strict=20/60,public=off; or off',
    default: RATE_LIMITS,
    meaning:
      'The rate limits, requests/seconds for each client and route: strict of registration, log-in and changes that need the password; public of the error catalog, the key set and the health checks; global of all others. One that is not named keeps its default. off turns one or all off.',
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
} as const satisfies Record<string, Variable>;

export type ServiceValues = ValuesOf<typeof SERVICE_VARIABLES>;

export const ORIGIN_NAMES = ['NODE_ENV', 'BASE_URL', 'PORT', 'ALLOWED_ORIGINS_DEV', 'ALLOWED_ORIGINS_PROD'] as const;

export type OriginValues = Pick<ServiceValues, (typeof ORIGIN_NAMES)[number]>;

export const originSettings = (values: OriginValues) => {
  const production = values.NODE_ENV === 'production';
  const allowedOriginsSetting = production ? ('ALLOWED_ORIGINS_PROD' as const) : ('ALLOWED_ORIGINS_DEV' as const);
  return {
    /** Serialized origins (RFC 6454 §6.2), of websites and of programs. */
    allowedOrigins: values[allowedOriginsSetting] as readonly string[],
    allowedOriginsSetting,
    /** The origins at which browsers open the pages of the service. */
    ownOrigins: ownOriginsOf(values),
  };
};

export const serviceSettings = (values: ServiceValues) => {
  const origins = originSettings(values);
  return {
    ...origins,
    environment: values.NODE_ENV,
    host: values.HOST,
    /** 0 is any free port. */
    port: values.PORT,
    /** An http(s) URL without a trailing slash. */
    baseUrl: baseUrlOf(values),
    /** `null`: not known. */
    passkeysPageUrl: values.PASSKEYS_PAGE_URL ?? null,
    /** Names of headers. */
    allowedHeaders: values.ALLOWED_HEADERS,
    /** The page to which users go from those of the service: the first of a website; `null`: none. */
    application: origins.allowedOrigins.find((origin) => !isOfProgram(origin)) ?? null,
    /** The domain that passkeys belong to, and the origins whose pages may use them. */
    webauthn: {
      rpId: values.WEBAUTHN_RP_ID ?? hostOf(new URL(baseUrlOf(values))),
      origins: [...new Set([...origins.ownOrigins, ...origins.allowedOrigins, ...values.WEBAUTHN_ORIGINS])],
    },
    /** Whether there is the page `/console`, for developers. */
    console: values.NODE_ENV !== 'production',
    /** The number of proxies in front of the service. */
    trustProxy: values.TRUST_PROXY,
    /** Milliseconds, as is the next one. */
    requestTimeout: values.REQUEST_TIMEOUT_MS,
    shutdownDelay: values.SHUTDOWN_DELAY,
    /** Milliseconds; `warn` is not above `error`. */
    slowRequest: values.SLOW_REQUEST_THRESHOLDS,
    /** SPEC "Rate limiting"; windows in milliseconds, `null` is unlimited. */
    rateLimits: form.completeRateLimits(RATE_LIMITS[values.NODE_ENV], values.RATE_LIMITS),
    logLevel: values.LOG_LEVEL,
    /** The address of the metrics; `null` when they are off. */
    metrics: values.METRICS === 'off' ? null : values.METRICS,
  };
};

export const baseUrlOf = ({ BASE_URL: url, PORT: port }: OriginValues): string => url ?? `http://localhost:${port}`;

/** On loopback outside production, all names of this machine. In production, `localhost` would be the machine of the visitor. */
const ownOriginsOf = ({ NODE_ENV: environment, BASE_URL: baseUrl, PORT: port }: OriginValues): string[] => {
  const production = environment === 'production';
  if (production && baseUrl === undefined) return [];
  const url = new URL(baseUrl ?? `http://localhost:${port}`);
  if (production || !isLoopback(hostOf(url))) return [url.origin];
  const names = ['localhost', '127.0.0.1', '[::1]'].map(
    (host) => new URL(`${url.protocol}//${host}:${url.port}`).origin,
  );
  return [...new Set([url.origin, ...names])];
};

export const serviceErrors = (values: Partial<ServiceValues>): Rule[] => {
  const { METRICS = 'off', PORT, WEBAUTHN_RP_ID: rpId, BASE_URL: url } = values;
  const host = url === undefined ? 'localhost' : hostOf(new URL(url));
  return [
    [METRICS !== 'off' && METRICS.port === PORT, 'METRICS: must not be the port of the service'],
    [
      'BASE_URL' in values && rpId !== undefined && rpId !== host && !host.endsWith(`.${rpId}`),
      'WEBAUTHN_RP_ID: must be the host of BASE_URL, or a domain above it',
    ],
  ];
};

export const serviceWarnings = (values: ServiceValues): Rule[] => {
  const { BASE_URL: url, ALLOWED_ORIGINS_DEV: dev, ALLOWED_ORIGINS_PROD: prod, REQUEST_TIMEOUT_MS: timeout } = values;
  const production = values.NODE_ENV === 'production';
  const isOpen = !isLoopback(values.HOST) || (url !== undefined && !isLoopback(hostOf(new URL(url))));
  const unlimited = Object.entries(values.RATE_LIMITS).flatMap(([tier, limit]) => (limit === null ? [tier] : []));
  return [
    [
      !production && isOpen,
      'NODE_ENV is not production, but HOST or BASE_URL is reachable from other machines: rate limits are higher, and insecure settings are accepted',
    ],
    [
      production && prod.length === 0 && dev.length > 0,
      'ALLOWED_ORIGINS_DEV has no effect in production: no origin is allowed',
    ],
    [
      !production && dev.length === 0 && prod.length > 0,
      'ALLOWED_ORIGINS_PROD has no effect outside production: no origin is allowed',
    ],
    [timeout < 1_000, 'REQUEST_TIMEOUT_MS is below 1000: the unit is milliseconds, and a log-in takes a few hundred'],
    [production && url === undefined, 'BASE_URL is unset: the type of every error points to localhost'],
    [
      production && url?.startsWith('https:') === true && values.TRUST_PROXY === 0,
      'TRUST_PROXY is 0, but BASE_URL is https, which requires a proxy: all clients behind it share one rate limit',
    ],
    [
      production && prod.some(isPlainHttp),
      'ALLOWED_ORIGINS_PROD has an http origin: an attacker on the network can inject scripts into its pages',
    ],
    [
      production && unlimited.length > 0,
      `RATE_LIMITS has off for ${unlimited.join(', ')}: the requests of a client are not limited`,
    ],
    [
      production && timeout > 5 * MINUTE,
      'REQUEST_TIMEOUT_MS is above five minutes: slow requests hold connections and memory for that long',
    ],
  ];
};
