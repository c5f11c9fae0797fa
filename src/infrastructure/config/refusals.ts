import { systemClock } from '../../adapters/clock/system.ts';
import { hasArgon2 } from '../../adapters/crypto/argon2id.ts';
import { hostOf } from '../../adapters/redis/url.ts';
import { DAY } from './formats.ts';
import { isPair, KEY_VARIABLES, shareKey } from './keys.ts';
import { cookiePath } from './session-variables.ts';
import {
  adminUrlOf,
  baseUrlOf,
  configuredPair,
  cookieCoversAuth,
  cookiePathOf,
  hasUserPages,
  isProduction,
  keysOf,
  loginPageOf,
  pageOriginsOf,
  raceWindowOf,
} from './settings.ts';
import { isLoopback } from './urls.ts';
import type { Values } from './variables.ts';

/** Messages, each with the condition for it. A message is a fixed text, which begins with the name of a variable. */
export type Rules = Readonly<Record<string, (env: Values) => boolean | null | undefined>>;

export const inProduction = (rules: Rules): Rules =>
  Object.fromEntries(
    Object.entries(rules).map(([text, applies]) => [text, (env: Values) => isProduction(env) && applies(env)]),
  );

const YEAR = 366 * DAY;

const KEY_NAMES = Object.values(KEY_VARIABLES).flatMap(({ privateKey, publicKeys }) => [privateKey, publicKeys]);

const keyRules = (name: (typeof KEY_NAMES)[number]): Rules => ({
  [`${name}: required in production`]: (env) => isProduction(env) && env[name] === undefined,
  [`${name}: required when another JWT key is set: set all four or none`]: (env) =>
    !isProduction(env) && env[name] === undefined && KEY_NAMES.some((other) => env[other] !== undefined),
});

const isMismatch = (env: Values, kind: keyof typeof KEY_VARIABLES): boolean => {
  const pair = configuredPair(env, kind);
  return pair !== null && !isPair(pair);
};

const hasSharedKey = (env: Values): boolean => {
  const keys = keysOf(env);
  return keys !== null && shareKey(keys.access, keys.refresh);
};

const isAbove = (value: number | undefined, limit: number): boolean => value !== undefined && value > limit;

const hostOfService = (env: Values): string => hostOf(new URL(baseUrlOf(env)));

const isOutside = (env: Values, domain: string | undefined): boolean =>
  domain !== undefined && !`.${hostOfService(env)}`.endsWith(`.${domain}`);

/** Whether the cookie of the access token would be for a top-level domain: browsers refuse such a cookie. */
const hasTopLevelCookie = (env: Values): boolean =>
  env.ACCESS_COOKIE_DOMAIN?.includes('.') === false && env.ACCESS_COOKIE_DOMAIN !== hostOfService(env);

const IN_PRODUCTION: Rules = {
  'BCRYPT_COST: must be at least 10 in production': (env) => env.BCRYPT_COST < 10,
  'JWT_REFRESH_COOKIE_SECURE: must be true in production': (env) => !env.JWT_REFRESH_COOKIE_SECURE,
  'HOOK_BEFORE_REGISTER: must be https in production': (env) => env.HOOK_BEFORE_REGISTER?.startsWith('http:'),
  'ADOPTION_ENDS: required in production with ADOPTION_PUBLIC_KEY': (env) =>
    env.ADOPTION_PUBLIC_KEY !== undefined && env.ADOPTION_ENDS === undefined,
  'BASE_URL: required in production with ADOPTION_PUBLIC_KEY, since assertions are for it': (env) =>
    env.ADOPTION_PUBLIC_KEY !== undefined && env.BASE_URL === undefined,
  'BASE_URL: required in production with OIDC_PROVIDERS, to which providers send browsers back': (env) =>
    env.OIDC_PROVIDERS !== undefined && env.BASE_URL === undefined,
  'VERIFY_PASSWORDS_AT: must be https in production': (env) => env.VERIFY_PASSWORDS_AT?.startsWith('http:'),
  'VERIFY_PASSWORDS_UNTIL: required in production with VERIFY_PASSWORDS_AT': (env) =>
    env.VERIFY_PASSWORDS_AT !== undefined && env.VERIFY_PASSWORDS_UNTIL === undefined,
  'ADMIN_URL: required in production when ADMIN_HOST is not loopback, since assertions are for it': (env) =>
    env.ADMIN_PORT !== null && !isLoopback(env.ADMIN_HOST) && env.ADMIN_URL === undefined,
  'ADMIN_URL: required in production with ADMIN_IDENTITY_HEADER, since forms are accepted from its origin alone': (
    env,
  ) => env.ADMIN_PORT !== null && env.ADMIN_IDENTITY_HEADER !== undefined && env.ADMIN_URL === undefined,
  'ADMIN_URL: must be set and https in production with ADMIN_USERS, whose browsers have a cookie for it': (env) =>
    env.ADMIN_USERS !== undefined && !env.ADMIN_URL?.startsWith('https:'),
  'SECOND_FACTOR: must not be required without FACTOR_KEYS': (env) =>
    env.SECOND_FACTOR === 'required' && env.FACTOR_KEYS === undefined,
  'MAIL_FROM: required when MAIL_URL is set': (env) => env.MAIL_URL !== undefined && env.MAIL_FROM === undefined,
  'BASE_URL: required in production when MAIL_URL is set, for the links in mail': (env) =>
    env.MAIL_URL !== undefined && env.BASE_URL === undefined,
  'BASE_URL: required in production with ACCOUNT_PAGES=on, whose forms are accepted from its origin alone': (env) =>
    env.ACCOUNT_PAGES === 'on' && env.BASE_URL === undefined,
  'EMAIL_VERIFICATION: must be off or unset without MAIL_URL': (env) =>
    env.MAIL_URL === undefined && (env.EMAIL_VERIFICATION ?? 'off') !== 'off',
  'LOGIN_BY_CODE: must be off without MAIL_URL': (env) => env.MAIL_URL === undefined && env.LOGIN_BY_CODE === 'on',
  'NEW_DEVICE_CODE: must be off without MAIL_URL': (env) => env.MAIL_URL === undefined && env.NEW_DEVICE_CODE !== 'off',
};

const EVERYWHERE: Rules = {
  'JWT_ACCESS_PUBLIC_KEY: its first key must be the public half of JWT_ACCESS_PRIVATE_KEY': (env) =>
    isMismatch(env, 'access'),
  'JWT_REFRESH_PUBLIC_KEY: its first key must be the public half of JWT_REFRESH_PRIVATE_KEY': (env) =>
    isMismatch(env, 'refresh'),
  'JWT_REFRESH_PUBLIC_KEY: must not share a key with JWT_ACCESS_PUBLIC_KEY: each kind of token needs its own pair':
    hasSharedKey,
  'PASSWORD_HASH: argon2id needs Node.js 24.7 or later': (env) => env.PASSWORD_HASH === 'argon2id' && !hasArgon2,
  'LEAKED_PASSWORDS_URL: must not be set beside LEAKED_PASSWORDS_FILE': (env) =>
    env.LEAKED_PASSWORDS_URL !== undefined && env.LEAKED_PASSWORDS_FILE !== undefined,

  'JWT_REFRESH_COOKIE_SECURE: must be true with JWT_REFRESH_COOKIE_SAME_SITE=none and JWT_REFRESH_COOKIE_PREFIX': (
    env,
  ) =>
    !isProduction(env) &&
    !env.JWT_REFRESH_COOKIE_SECURE &&
    (env.JWT_REFRESH_COOKIE_SAME_SITE === 'none' || env.JWT_REFRESH_COOKIE_PREFIX !== undefined),
  'JWT_REFRESH_COOKIE_PATH: must be / with __Host-Http-': (env) =>
    env.JWT_REFRESH_COOKIE_PREFIX === '__Host-Http-' && cookiePathOf(env) !== '/',
  // Outside production without BASE_URL, this is not checked: a proxy may add a path that the service does not know.
  'JWT_REFRESH_COOKIE_PATH: must be the path of BASE_URL followed by /auth, or a parent of that path, such as /': (
    env,
  ) => (isProduction(env) || env.BASE_URL !== undefined) && !cookieCoversAuth(env),
  'BASE_URL: its path must be valid as the Path of a cookie, without commas and semicolons': (env) =>
    cookiePath.parse(cookiePathOf(env)) === undefined,

  'JWT_ACCESS_EXPIRES_IN: must not be above JWT_REFRESH_EXPIRES_IN': (env) =>
    isAbove(env.JWT_ACCESS_EXPIRES_IN, env.JWT_REFRESH_EXPIRES_IN),
  // With this limit, a replayed token counts as theft for most of its lifetime.
  'JWT_REFRESH_RACE_WINDOW: must not be above a tenth of JWT_REFRESH_EXPIRES_IN': (env) =>
    isAbove(env.JWT_REFRESH_RACE_WINDOW, env.JWT_REFRESH_EXPIRES_IN / 10),
  'JWT_REFRESH_REPLAY_WINDOW: must not be above JWT_REFRESH_RACE_WINDOW': (env) =>
    isAbove(env.JWT_REFRESH_REPLAY_WINDOW, raceWindowOf(env)),
  'JWT_BINDING: must be off without DEVICE_BINDING=enforce': (env) =>
    env.JWT_BINDING === 'on' && env.DEVICE_BINDING !== 'enforce',

  'LOGIN_PAGE_URL: required with ACCESS_COOKIE=true and ACCOUNT_PAGES=off': (env) =>
    env.ACCESS_COOKIE && loginPageOf(env) === null,
  'LOGIN_PAGE_URL: must be at an origin of ALLOWED_ORIGINS_PROD (ALLOWED_ORIGINS_DEV outside production) or of BASE_URL':
    (env) => env.LOGIN_PAGE_URL !== undefined && !pageOriginsOf(env).includes(new URL(env.LOGIN_PAGE_URL).origin),
  'ACCESS_COOKIE_DOMAIN: must be the host of BASE_URL or a domain above it, and no top-level domain': (env) =>
    isOutside(env, env.ACCESS_COOKIE_DOMAIN) || hasTopLevelCookie(env),
  'APP_LINKS: must be unset without ACCOUNT_PAGES=on': (env) => env.APP_LINKS.length > 0 && !hasUserPages(env),
  'WEBAUTHN_RP_ID: must be the host of BASE_URL, or a domain above it': (env) => isOutside(env, env.WEBAUTHN_RP_ID),

  'ADOPTION_PUBLIC_KEY: must not share a key with the tokens of the service, which the former system could sign then': (
    env,
  ) => {
    const keys = [env.ADOPTION_PUBLIC_KEY, env.JWT_ACCESS_PUBLIC_KEY, env.JWT_REFRESH_PUBLIC_KEY];
    const [adoption = [], ...own] = keys.map((each) => each ?? []);
    return adoption.some((key) => own.flat().some((other) => key.equals(other)));
  },
  'ADOPTION_ENDS: must be within a year': (env) => isAbove(env.ADOPTION_ENDS, systemClock.now() + YEAR),
  'VERIFY_PASSWORDS_UNTIL: must be within a year': (env) =>
    isAbove(env.VERIFY_PASSWORDS_UNTIL, systemClock.now() + YEAR),
  'ADMIN_PORT: must not be the port of the service, or of METRICS': (env) =>
    env.ADMIN_PORT !== null && (env.ADMIN_PORT === env.PORT || env.ADMIN_PORT === env.METRICS?.port),
  'ADMIN_PROXY_SECRET: required with ADMIN_IDENTITY_HEADER, which others could send as well': (env) =>
    env.ADMIN_PORT !== null && env.ADMIN_IDENTITY_HEADER !== undefined && env.ADMIN_PROXY_SECRET === undefined,
  'ADMIN_IDENTITY_HEADER: required with ADMIN_PROXY_SECRET': (env) =>
    env.ADMIN_PORT !== null && env.ADMIN_IDENTITY_HEADER === undefined && env.ADMIN_PROXY_SECRET !== undefined,
  'ADMIN_USERS: must be unset with ADMIN_IDENTITY_HEADER: either a proxy says who people are, or they log in': (env) =>
    env.ADMIN_USERS !== undefined && env.ADMIN_IDENTITY_HEADER !== undefined,
  'ADMIN_USERS: must be unset without ACCOUNT_PAGES=on, where operators log in': (env) =>
    env.ADMIN_USERS !== undefined && !hasUserPages(env),
  'ADMIN_URL: must be of another origin than BASE_URL with ADMIN_USERS': (env) =>
    env.ADMIN_USERS !== undefined && new URL(adminUrlOf(env)).origin === new URL(baseUrlOf(env)).origin,
  'REDIS_URL: required with WORKERS above 1, whose processes count limits together there': (env) =>
    env.WORKERS > 1 && env.REDIS_URL === undefined,
  'METRICS: must not be the port of the service': (env) => env.METRICS?.port === env.PORT,
  'MAIL_URL: must have a user, and a password unless MAIL_OAUTH is set': ({ MAIL_URL: mail, MAIL_OAUTH: oauth }) => {
    if (mail === undefined || mail.url.startsWith('http')) return false;
    const { username, password } = new URL(mail.url);
    return oauth === undefined ? (username === '') !== (password === '') : username === '' || password !== '';
  },
  'PASSWORDS: must be required without LOGIN_BY_CODE=on': (env) =>
    env.PASSWORDS === 'optional' && env.LOGIN_BY_CODE === 'off',
};

/** Settings with which the service refuses to start (ADR 0020). */
export const REFUSALS: Rules = {
  ...Object.assign({}, ...KEY_NAMES.map(keyRules)),
  ...EVERYWHERE,
  ...inProduction(IN_PRODUCTION),
};
