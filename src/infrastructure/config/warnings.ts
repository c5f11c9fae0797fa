import { coversAuth } from './cookie-path.ts';
import { hostOf, isFar, isLoopback, isPlainHttp } from './hosts.ts';
import { isInsecure } from './postgresql-url.ts';
import { unknownVariables } from './unknown-variables.ts';
import type { Values } from './values.ts';

type Rule = readonly [applies: boolean, warning: string];
type Env = Readonly<Record<string, string | undefined>>;

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

/** What the service starts with and tells of, a line each. ADR 0018. */
export const warningsOf = (values: Values, env: Env): string[] => [
  ...[
    ...ofAddresses(values),
    ...ofCookie(values),
    ...ofTimes(values),
    ...(values.NODE_ENV === 'production' ? ofProduction(values, env) : []),
  ]
    .filter(([applies]) => applies)
    .map(([, warning]) => warning),
  ...unknownVariables(env),
];

const ofAddresses = (values: Values): Rule[] => {
  const { BASE_URL: url, ALLOWED_ORIGINS_DEV: dev, ALLOWED_ORIGINS_PROD: prod } = values;
  const production = values.NODE_ENV === 'production';
  const isOpen = !isLoopback(values.HOST) || (url !== undefined && !isLoopback(hostOf(new URL(url))));
  return [
    [
      !production && isOpen,
      'NODE_ENV is not production, though HOST or BASE_URL is for other machines: limits are wide, and nothing that production refuses is refused',
    ],
    [
      production && prod.length === 0 && dev.length > 0,
      'ALLOWED_ORIGINS_DEV counts outside production only: no origin is allowed',
    ],
    [
      !production && dev.length === 0 && prod.length > 0,
      'ALLOWED_ORIGINS_PROD counts in production only: no origin is allowed',
    ],
    [
      url !== undefined && isPlainHttp(url) && (production || values.JWT_REFRESH_COOKIE_SECURE),
      'BASE_URL is http: passwords and tokens travel in the clear, and browsers keep no Secure cookie',
    ],
  ];
};

const ofCookie = (values: Values): Rule[] => {
  const origins = values.NODE_ENV === 'production' ? values.ALLOWED_ORIGINS_PROD : values.ALLOWED_ORIGINS_DEV;
  return [
    [
      values.JWT_REFRESH_COOKIE_SAME_SITE === 'none' && origins.length === 0,
      'JWT_REFRESH_COOKIE_SAME_SITE is none, though no origin is allowed: lax or strict keeps other sites out',
    ],
    [
      !coversAuth(values.JWT_REFRESH_COOKIE_PATH, values.BASE_URL),
      'JWT_REFRESH_COOKIE_PATH does not cover /auth: unless a proxy adds a path, which BASE_URL should tell, neither refresh nor log-out gets the cookie',
    ],
    [
      values.JWT_REFRESH_COOKIE_MAX_AGE_MS < values.JWT_REFRESH_EXPIRES_IN,
      'JWT_REFRESH_COOKIE_MAX_AGE_MS is below JWT_REFRESH_EXPIRES_IN: browsers drop refresh tokens before they expire',
    ],
  ];
};

const ofTimes = (values: Values): Rule[] => [
  [
    values.REQUEST_TIMEOUT_MS < 1_000,
    'REQUEST_TIMEOUT_MS is below 1000: it is in milliseconds, and a log-in takes some hundred of them',
  ],
];

/** The limits that are off. */
const unlimited = (values: Values): string[] =>
  (['RATE_LIMIT_GLOBAL', 'RATE_LIMIT_STRICT', 'RATE_LIMIT_PUBLIC'] as const).filter((name) => values[name] === 'off');

const ofProduction = (values: Values, env: Env): Rule[] => {
  const { BASE_URL: baseUrl, DATABASE_URL: database } = values;
  const off = unlimited(values);
  const redis = (values.REDIS_URL ?? []).map((text) => new URL(text));
  return [
    [database === undefined, 'DATABASE_URL is unset: the embedded database is durable, but serves one process only'],
    [
      database !== undefined && isInsecure(database, env.PGSSLMODE),
      'DATABASE_URL asks for no TLS, or for one that checks no certificate: whoever is on the way reads or changes what is stored (sslmode=verify-full)',
    ],
    [baseUrl === undefined, 'BASE_URL is unset: the types of errors point to localhost'],
    [
      baseUrl?.startsWith('https:') === true && values.TRUST_PROXY === 0,
      'TRUST_PROXY is 0, though BASE_URL is https, which takes a proxy: all clients behind it share the limits of one',
    ],
    [
      values.ALLOWED_ORIGINS_PROD.some(isPlainHttp),
      'ALLOWED_ORIGINS_PROD has an http origin: whoever is on the way can put a script into its pages',
    ],
    [off.length > 0, `${off.join(', ')}: off, so nothing bounds what one client asks for`],
    [
      values.PASSWORD_BLOCKLIST === 'off',
      'PASSWORD_BLOCKLIST is off: the passwords that are guessed first are accepted',
    ],
    [
      redis.some((url) => !isLoopback(hostOf(url)) && url.password === '') && values.REDIS_PASSWORD === undefined,
      'REDIS_URL has no password: whoever reaches that Redis can reset limits and end or revive sessions',
    ],
    [
      redis.some((url) => url.protocol === 'redis:' && isFar(hostOf(url))),
      'REDIS_URL is redis: and not rediss:, so the password and all else travels in the clear',
    ],
    [
      values.REQUEST_TIMEOUT_MS > 5 * MINUTE,
      'REQUEST_TIMEOUT_MS is above five minutes: slow requests hold what they need for as long',
    ],
    [
      (values.JWT_ACCESS_EXPIRES_IN ?? 0) > DAY,
      'JWT_ACCESS_EXPIRES_IN is above a day: nothing ends an access token before',
    ],
  ];
};
