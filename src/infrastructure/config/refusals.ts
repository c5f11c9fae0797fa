import * as v from 'valibot';
import type { Env, Rule } from '../storages/storage.ts';
import { storageFor } from '../storages/storages.ts';
import { cookiePathOf, coversAuth } from './cookie-path.ts';
import { longestWindow, raceWindowOf } from './lifetimes.ts';
import { cookiePath } from './schemas.ts';
import type { Values } from './values.ts';
import type { VariableName } from './variables.ts';

/**
 * Combinations of values that the service refuses although each value is valid by itself, a line each (ADR 0018).
 * @param values without the variables that are invalid: their rules are skipped.
 */
export const refusals = (values: Partial<Values>): string[] =>
  [...ofCookie(values), ...ofTokens(values), ...ofStores(values), ...ofServer(values), ...ofMail(values)]
    .filter(([broken]) => broken)
    .map(([, problem]) => problem);

/** Settings of earlier versions that must not be ignored silently. */
export const ofEarlierVersions = ({ SESSION_STORE }: Env): string[] =>
  SESSION_STORE === 'redis'
    ? ['SESSION_STORE: must be unset: sessions are in the database, and no longer in Redis']
    : [];

/** SPEC "Refresh cookie"; RFC 6265bis §5.7 for SameSite=None. */
const ofCookie = (values: Partial<Values>): Rule[] => {
  const production = values.NODE_ENV === 'production';
  const insecure = values.JWT_REFRESH_COOKIE_SECURE === false;
  // Without BASE_URL in development, there may be a proxy that adds a path.
  const knowsPath = 'BASE_URL' in values && (production || values.BASE_URL !== undefined);
  return [
    [production && insecure, 'JWT_REFRESH_COOKIE_SECURE: must be true in production'],
    [
      !production && insecure && values.JWT_REFRESH_COOKIE_SAME_SITE === 'none',
      'JWT_REFRESH_COOKIE_SECURE: must be true when JWT_REFRESH_COOKIE_SAME_SITE is none',
    ],
    [
      !v.is(cookiePath, cookiePathOf(values.JWT_REFRESH_COOKIE_PATH, values.BASE_URL)),
      'BASE_URL: its path must be valid as the Path of a cookie, without commas and semicolons',
    ],
    [
      knowsPath && !coversAuth(values.JWT_REFRESH_COOKIE_PATH, values.BASE_URL),
      'JWT_REFRESH_COOKIE_PATH: must be the path of BASE_URL followed by /auth, or a parent of that path, such as /',
    ],
  ];
};

const ofTokens = (values: Partial<Values>): Rule[] => {
  const { JWT_REFRESH_EXPIRES_IN: lifetime, JWT_REFRESH_RACE_WINDOW: race } = values;
  if (lifetime === undefined) return [];
  return [
    [
      isAbove(values.JWT_ACCESS_EXPIRES_IN, lifetime),
      'JWT_ACCESS_EXPIRES_IN: must not be above JWT_REFRESH_EXPIRES_IN',
    ],
    [
      isAbove(race, longestWindow(lifetime)),
      'JWT_REFRESH_RACE_WINDOW: must not be above a tenth of JWT_REFRESH_EXPIRES_IN',
    ],
    [
      'JWT_REFRESH_RACE_WINDOW' in values && isAbove(values.JWT_REFRESH_REPLAY_WINDOW, raceWindowOf(race, lifetime)),
      'JWT_REFRESH_REPLAY_WINDOW: must not be above JWT_REFRESH_RACE_WINDOW',
    ],
  ];
};

const ofStores = (values: Partial<Values>): Rule[] => {
  const { NODE_ENV, BCRYPT_COST: cost = 10, REDIS_URL: redisUrls = [] } = values;
  const production = NODE_ENV === 'production';
  return [
    [production && cost < 10, 'BCRYPT_COST: must be at least 10 in production'],
    ...('DATABASE_URL' in values ? storageFor(values.DATABASE_URL).refusals(values) : []),
    [
      values.REDIS_PASSWORD !== undefined && redisUrls.some((text) => new URL(text).password !== ''),
      'REDIS_PASSWORD: must be unset when REDIS_URL has a password',
    ],
  ];
};

const TIMEOUTS = ['DATABASE_CONNECTION_TIMEOUT', 'DATABASE_STATEMENT_TIMEOUT', 'DATABASE_IDLE_TIMEOUT'] as const;

const ofServer = ({ METRICS = 'off', ...values }: Partial<Values>): Rule[] => [
  [METRICS !== 'off' && METRICS.port === values.PORT, 'METRICS: must not be the port of the service'],
  // Values are whole milliseconds, so `below` a limit is `at most` the limit minus 1.
  ...TIMEOUTS.map(
    (name): Rule => [
      isAbove(values[name], (values.REQUEST_TIMEOUT_MS ?? Infinity) - 1),
      `${name}: must be below REQUEST_TIMEOUT_MS`,
    ],
  ),
];

/** Mail that could not be sent, or whose links would lead nowhere. */
const ofMail = (values: Partial<Values>): Rule[] => {
  const { EMAIL_VERIFICATION: verification = 'off' } = values;
  if (values.NODE_ENV !== 'production' || !('MAIL_URL' in values)) return [];
  const hasMail = values.MAIL_URL !== undefined;
  const isUnset = (name: VariableName) => name in values && values[name] === undefined;
  return [
    [hasMail && isUnset('MAIL_FROM'), 'MAIL_FROM: required when MAIL_URL is set'],
    [hasMail && isUnset('BASE_URL'), 'BASE_URL: required in production when MAIL_URL is set, for the links in mail'],
    [!hasMail && verification !== 'off', 'EMAIL_VERIFICATION: must be off or unset without MAIL_URL'],
  ];
};

const isAbove = (value: number | undefined, limit: number): boolean => value !== undefined && value > limit;
