import type { Env, Rule } from '../storages/storage.ts';
import { storageFor } from '../storages/storages.ts';
import { coversAuth } from './cookie-path.ts';
import { DAY } from './duration.ts';
import { hostOf, isFar, isLoopback, isPlainHttp } from './hosts.ts';
import { httpSettings } from './http-settings.ts';
import { unknownVariables } from './unknown-variables.ts';
import type { Values } from './values.ts';

const MINUTE = 60_000;

/** What the service accepts with a warning, a line each (ADR 0018). */
export const warningsOf = (values: Values, env: Env): string[] => [
  ...applying([
    ...ofAddresses(values),
    ...ofCookie(values),
    ...ofMail(values),
    ...ofTimes(values),
    ...(values.NODE_ENV === 'production' ? ofProduction(values) : []),
  ]),
  ...unknownVariables(env),
];

/** The same about the database. */
export const databaseWarningsOf = (values: Values, env: Env): string[] =>
  values.NODE_ENV === 'production' ? applying(storageFor(values.DATABASE_URL).productionWarnings(values, env)) : [];

const applying = (rules: readonly Rule[]): string[] =>
  rules.filter(([applies]) => applies).map(([, warning]) => warning);

const ofAddresses = (values: Values): Rule[] => {
  const { BASE_URL: url, ALLOWED_ORIGINS_DEV: dev, ALLOWED_ORIGINS_PROD: prod } = values;
  const production = values.NODE_ENV === 'production';
  const isOpen = !isLoopback(values.HOST) || (url !== undefined && !isLoopback(hostOf(new URL(url))));
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
    [
      url !== undefined && isPlainHttp(url) && (production || values.JWT_REFRESH_COOKIE_SECURE),
      'BASE_URL is http: passwords and tokens are sent unencrypted, and browsers reject Secure cookies',
    ],
  ];
};

const ofCookie = (values: Values): Rule[] => {
  const origins = values.NODE_ENV === 'production' ? values.ALLOWED_ORIGINS_PROD : values.ALLOWED_ORIGINS_DEV;
  return [
    [
      values.JWT_REFRESH_COOKIE_SAME_SITE === 'none' && origins.length === 0,
      'JWT_REFRESH_COOKIE_SAME_SITE is none, but no origin is allowed: use lax or strict to keep the cookie from other sites',
    ],
    [
      !coversAuth(values.JWT_REFRESH_COOKIE_PATH, values.BASE_URL),
      'JWT_REFRESH_COOKIE_PATH does not cover /auth: refresh and log-out do not receive the cookie. If a proxy adds a path, set BASE_URL',
    ],
    [
      values.JWT_REFRESH_COOKIE_MAX_AGE_MS < values.JWT_REFRESH_EXPIRES_IN,
      'JWT_REFRESH_COOKIE_MAX_AGE_MS is below JWT_REFRESH_EXPIRES_IN: browsers delete refresh tokens before they expire',
    ],
  ];
};

const ofMail = (values: Values): Rule[] => {
  const { MAIL_URL: url, ACCOUNT_PAGES_URL: pages } = values;
  const production = values.NODE_ENV === 'production';
  const { baseUrl, allowedOrigins, allowedOriginsSetting } = httpSettings(values);
  const origins = [new URL(baseUrl).origin, ...allowedOrigins];
  return [
    [production && url === undefined, 'MAIL_URL is unset: there is neither password reset nor email verification'],
    [
      values.MAIL_ALLOW_PLAIN &&
        url !== undefined &&
        new URL(url).protocol === 'smtp:' &&
        !isLoopback(hostOf(new URL(url))),
      'MAIL_ALLOW_PLAIN is true: the password of MAIL_URL and the links in mail are sent unencrypted where the mail server offers no STARTTLS, or somebody on the way removes the offer',
    ],
    [
      pages !== undefined && !origins.includes(new URL(pages).origin),
      `ACCOUNT_PAGES_URL is of an origin that is not in ${allowedOriginsSetting}: its pages cannot call the service`,
    ],
    [
      production && pages !== undefined && isPlainHttp(pages),
      'ACCOUNT_PAGES_URL is http: an attacker on the network can use the links in mail, by changing the pages',
    ],
  ];
};

const ofTimes = (values: Values): Rule[] => [
  [
    values.REQUEST_TIMEOUT_MS < 1_000,
    'REQUEST_TIMEOUT_MS is below 1000: the unit is milliseconds, and a log-in takes a few hundred',
  ],
];

/** The rate limits that are off. */
const unlimited = (values: Values): string[] =>
  (['RATE_LIMIT_GLOBAL', 'RATE_LIMIT_STRICT', 'RATE_LIMIT_PUBLIC'] as const).filter((name) => values[name] === 'off');

const ofProduction = (values: Values): Rule[] => {
  const { BASE_URL: baseUrl } = values;
  const off = unlimited(values);
  const redis = (values.REDIS_URL ?? []).map((text) => new URL(text));
  return [
    [baseUrl === undefined, 'BASE_URL is unset: the type of every error points to localhost'],
    [
      baseUrl?.startsWith('https:') === true && values.TRUST_PROXY === 0,
      'TRUST_PROXY is 0, but BASE_URL is https, which requires a proxy: all clients behind it share one rate limit',
    ],
    [
      values.ALLOWED_ORIGINS_PROD.some(isPlainHttp),
      'ALLOWED_ORIGINS_PROD has an http origin: an attacker on the network can inject scripts into its pages',
    ],
    [off.length > 0, `${off.join(', ')}: off: the requests of a client are not limited`],
    [values.CONSOLE === 'on', 'CONSOLE is on: everybody who reaches the service can open a page for developers'],
    [values.PASSWORD_BLOCKLIST === 'off', 'PASSWORD_BLOCKLIST is off: common passwords are accepted'],
    [
      redis.some((url) => !isLoopback(hostOf(url)) && url.password === '') && values.REDIS_PASSWORD === undefined,
      'REDIS_URL has no password: any client that reaches that Redis can reset limits',
    ],
    [
      redis.some((url) => url.protocol === 'redis:' && isFar(hostOf(url))),
      'REDIS_URL is redis:, not rediss:: the password and all data are sent unencrypted',
    ],
    [
      values.REQUEST_TIMEOUT_MS > 5 * MINUTE,
      'REQUEST_TIMEOUT_MS is above five minutes: slow requests hold connections and memory for that long',
    ],
    [
      (values.JWT_ACCESS_EXPIRES_IN ?? 0) > DAY,
      'JWT_ACCESS_EXPIRES_IN is above a day: other services accept access tokens of ended sessions until they expire',
    ],
  ];
};
