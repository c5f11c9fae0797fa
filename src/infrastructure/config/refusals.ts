import { systemClock } from '../../adapters/clock/system.ts';
import { hasArgon2 } from '../../adapters/crypto/argon2id.ts';
import { hostOf } from '../../adapters/redis/url.ts';
import { DAY } from './forms.ts';
import { isPair, KEY_VARIABLES, shareKey } from './keys.ts';
import { cookiePath } from './session-variables.ts';
import {
  adminUrlOf,
  baseUrlOf,
  cookieCoversAuth,
  cookiePathOf,
  hasUserPages,
  isProduction,
  keysOf,
  loginPageOf,
  pageOriginsOf,
  pairOf,
  raceWindowOf,
} from './settings.ts';
import { isLoopback } from './urls.ts';
import type { Values } from './variables.ts';

/** Lines, and when each is shown. A line begins with the name of a variable and contains no value. */
export type Rules = Readonly<Record<string, (of: Values) => boolean | null | undefined>>;

export const inProduction = (rules: Rules): Rules =>
  Object.fromEntries(
    Object.entries(rules).map(([text, applies]) => [text, (of: Values) => isProduction(of) && applies(of)]),
  );

const YEAR = 366 * DAY;

const KEY_NAMES = Object.values(KEY_VARIABLES).flatMap(({ privateKey, publicKeys }) => [privateKey, publicKeys]);

const keyRules = (name: (typeof KEY_NAMES)[number]): Rules => ({
  [`${name}: required in production`]: (of) => isProduction(of) && of[name] === undefined,
  [`${name}: required when another JWT key is set: set all four or none`]: (of) =>
    !isProduction(of) && of[name] === undefined && KEY_NAMES.some((other) => of[other] !== undefined),
});

const isMismatch = (of: Values, kind: keyof typeof KEY_VARIABLES): boolean => {
  const pair = pairOf(of, kind);
  return pair !== null && !isPair(pair);
};

const hasSharedKey = (of: Values): boolean => {
  const keys = keysOf(of);
  return keys !== null && shareKey(keys.access, keys.refresh);
};

const isAbove = (value: number | undefined, limit: number): boolean => value !== undefined && value > limit;

const hostOfService = (of: Values): string => hostOf(new URL(baseUrlOf(of)));

const isOutside = (of: Values, domain: string | undefined): boolean =>
  domain !== undefined && !`.${hostOfService(of)}`.endsWith(`.${domain}`);

/** Browsers keep no cookie for a top-level domain. */
const hasTopLevelCookie = (of: Values): boolean =>
  of.ACCESS_COOKIE_DOMAIN?.includes('.') === false && of.ACCESS_COOKIE_DOMAIN !== hostOfService(of);

const IN_PRODUCTION: Rules = {
  'BCRYPT_COST: must be at least 10 in production': (of) => of.BCRYPT_COST < 10,
  'JWT_REFRESH_COOKIE_SECURE: must be true in production': (of) => !of.JWT_REFRESH_COOKIE_SECURE,
  'HOOK_BEFORE_REGISTER: must be https in production': (of) => of.HOOK_BEFORE_REGISTER?.startsWith('http:'),
  'ADOPTION_ENDS: required in production with ADOPTION_PUBLIC_KEY': (of) =>
    of.ADOPTION_PUBLIC_KEY !== undefined && of.ADOPTION_ENDS === undefined,
  'BASE_URL: required in production with ADOPTION_PUBLIC_KEY, since assertions are for it': (of) =>
    of.ADOPTION_PUBLIC_KEY !== undefined && of.BASE_URL === undefined,
  'BASE_URL: required in production with OIDC_PROVIDERS, to which providers send browsers back': (of) =>
    of.OIDC_PROVIDERS !== undefined && of.BASE_URL === undefined,
  'VERIFY_PASSWORDS_AT: must be https in production': (of) => of.VERIFY_PASSWORDS_AT?.startsWith('http:'),
  'VERIFY_PASSWORDS_UNTIL: required in production with VERIFY_PASSWORDS_AT': (of) =>
    of.VERIFY_PASSWORDS_AT !== undefined && of.VERIFY_PASSWORDS_UNTIL === undefined,
  'ADMIN_URL: required in production when ADMIN_HOST is not loopback, since assertions are for it': (of) =>
    of.ADMIN_PORT !== null && !isLoopback(of.ADMIN_HOST) && of.ADMIN_URL === undefined,
  'ADMIN_URL: required in production with ADMIN_IDENTITY_HEADER, since forms are accepted from its origin alone': (
    of,
  ) => of.ADMIN_PORT !== null && of.ADMIN_IDENTITY_HEADER !== undefined && of.ADMIN_URL === undefined,
  'ADMIN_URL: must be set and https in production with ADMIN_USERS, whose browsers have a cookie for it': (of) =>
    of.ADMIN_USERS !== undefined && !of.ADMIN_URL?.startsWith('https:'),
  'SECOND_FACTOR: must not be required without FACTOR_KEYS': (of) =>
    of.SECOND_FACTOR === 'required' && of.FACTOR_KEYS === undefined,
  'MAIL_FROM: required when MAIL_URL is set': (of) => of.MAIL_URL !== undefined && of.MAIL_FROM === undefined,
  'BASE_URL: required in production when MAIL_URL is set, for the links in mail': (of) =>
    of.MAIL_URL !== undefined && of.BASE_URL === undefined,
  'BASE_URL: required in production with ACCOUNT_PAGES=on, whose forms are accepted from its origin alone': (of) =>
    of.ACCOUNT_PAGES === 'on' && of.BASE_URL === undefined,
  'EMAIL_VERIFICATION: must be off or unset without MAIL_URL': (of) =>
    of.MAIL_URL === undefined && (of.EMAIL_VERIFICATION ?? 'off') !== 'off',
  'LOGIN_BY_CODE: must be off without MAIL_URL': (of) => of.MAIL_URL === undefined && of.LOGIN_BY_CODE === 'on',
  'NEW_DEVICE_CODE: must be off without MAIL_URL': (of) => of.MAIL_URL === undefined && of.NEW_DEVICE_CODE !== 'off',
};

const EVERYWHERE: Rules = {
  'JWT_ACCESS_PUBLIC_KEY: its first key must be the public half of JWT_ACCESS_PRIVATE_KEY': (of) =>
    isMismatch(of, 'access'),
  'JWT_REFRESH_PUBLIC_KEY: its first key must be the public half of JWT_REFRESH_PRIVATE_KEY': (of) =>
    isMismatch(of, 'refresh'),
  'JWT_REFRESH_PUBLIC_KEY: must not share a key with JWT_ACCESS_PUBLIC_KEY: each kind of token needs its own pair':
    hasSharedKey,
  'PASSWORD_HASH: argon2id needs Node.js 24.7 or later': (of) => of.PASSWORD_HASH === 'argon2id' && !hasArgon2,
  'LEAKED_PASSWORDS_URL: must not be set beside LEAKED_PASSWORDS_FILE': (of) =>
    of.LEAKED_PASSWORDS_URL !== undefined && of.LEAKED_PASSWORDS_FILE !== undefined,

  'JWT_REFRESH_COOKIE_SECURE: must be true with JWT_REFRESH_COOKIE_SAME_SITE=none and JWT_REFRESH_COOKIE_PREFIX': (
    of,
  ) =>
    !isProduction(of) &&
    !of.JWT_REFRESH_COOKIE_SECURE &&
    (of.JWT_REFRESH_COOKIE_SAME_SITE === 'none' || of.JWT_REFRESH_COOKIE_PREFIX !== undefined),
  'JWT_REFRESH_COOKIE_PATH: must be / with __Host-Http-': (of) =>
    of.JWT_REFRESH_COOKIE_PREFIX === '__Host-Http-' && cookiePathOf(of) !== '/',
  // Without BASE_URL in development, there may be a proxy that adds a path.
  'JWT_REFRESH_COOKIE_PATH: must be the path of BASE_URL followed by /auth, or a parent of that path, such as /': (
    of,
  ) => (isProduction(of) || of.BASE_URL !== undefined) && !cookieCoversAuth(of),
  'BASE_URL: its path must be valid as the Path of a cookie, without commas and semicolons': (of) =>
    cookiePath.parse(cookiePathOf(of)) === undefined,

  'JWT_ACCESS_EXPIRES_IN: must not be above JWT_REFRESH_EXPIRES_IN': (of) =>
    isAbove(of.JWT_ACCESS_EXPIRES_IN, of.JWT_REFRESH_EXPIRES_IN),
  // A replay has to count as theft for most of the lifetime.
  'JWT_REFRESH_RACE_WINDOW: must not be above a tenth of JWT_REFRESH_EXPIRES_IN': (of) =>
    isAbove(of.JWT_REFRESH_RACE_WINDOW, of.JWT_REFRESH_EXPIRES_IN / 10),
  'JWT_REFRESH_REPLAY_WINDOW: must not be above JWT_REFRESH_RACE_WINDOW': (of) =>
    isAbove(of.JWT_REFRESH_REPLAY_WINDOW, raceWindowOf(of)),
  'JWT_BINDING: must be off without DEVICE_BINDING=enforce': (of) =>
    of.JWT_BINDING === 'on' && of.DEVICE_BINDING !== 'enforce',

  'LOGIN_PAGE_URL: required with ACCESS_COOKIE=true and ACCOUNT_PAGES=off': (of) =>
    of.ACCESS_COOKIE && loginPageOf(of) === null,
  'LOGIN_PAGE_URL: must be at an origin of ALLOWED_ORIGINS_PROD (ALLOWED_ORIGINS_DEV outside production) or of BASE_URL':
    (of) => of.LOGIN_PAGE_URL !== undefined && !pageOriginsOf(of).includes(new URL(of.LOGIN_PAGE_URL).origin),
  'ACCESS_COOKIE_DOMAIN: must be the host of BASE_URL or a domain above it, and no top-level domain': (of) =>
    isOutside(of, of.ACCESS_COOKIE_DOMAIN) || hasTopLevelCookie(of),
  'APP_LINKS: must be unset without ACCOUNT_PAGES=on': (of) => of.APP_LINKS.length > 0 && !hasUserPages(of),
  'WEBAUTHN_RP_ID: must be the host of BASE_URL, or a domain above it': (of) => isOutside(of, of.WEBAUTHN_RP_ID),

  'ADOPTION_PUBLIC_KEY: must not share a key with the tokens of the service, which the former system could sign then': (
    of,
  ) => {
    const keys = [of.ADOPTION_PUBLIC_KEY, of.JWT_ACCESS_PUBLIC_KEY, of.JWT_REFRESH_PUBLIC_KEY];
    const [adoption = [], ...own] = keys.map((each) => each ?? []);
    return adoption.some((key) => own.flat().some((other) => key.equals(other)));
  },
  'ADOPTION_ENDS: must be within a year': (of) => isAbove(of.ADOPTION_ENDS, systemClock.now() + YEAR),
  'VERIFY_PASSWORDS_UNTIL: must be within a year': (of) => isAbove(of.VERIFY_PASSWORDS_UNTIL, systemClock.now() + YEAR),
  'ADMIN_PORT: must not be the port of the service, or of METRICS': (of) =>
    of.ADMIN_PORT !== null && (of.ADMIN_PORT === of.PORT || of.ADMIN_PORT === of.METRICS?.port),
  'ADMIN_PROXY_SECRET: required with ADMIN_IDENTITY_HEADER, which others could send as well': (of) =>
    of.ADMIN_PORT !== null && of.ADMIN_IDENTITY_HEADER !== undefined && of.ADMIN_PROXY_SECRET === undefined,
  'ADMIN_IDENTITY_HEADER: required with ADMIN_PROXY_SECRET': (of) =>
    of.ADMIN_PORT !== null && of.ADMIN_IDENTITY_HEADER === undefined && of.ADMIN_PROXY_SECRET !== undefined,
  'ADMIN_USERS: must be unset with ADMIN_IDENTITY_HEADER: either a proxy says who people are, or they log in': (of) =>
    of.ADMIN_USERS !== undefined && of.ADMIN_IDENTITY_HEADER !== undefined,
  'ADMIN_USERS: must be unset without ACCOUNT_PAGES=on, where operators log in': (of) =>
    of.ADMIN_USERS !== undefined && !hasUserPages(of),
  'ADMIN_URL: must be of another origin than BASE_URL with ADMIN_USERS': (of) =>
    of.ADMIN_USERS !== undefined && new URL(adminUrlOf(of)).origin === new URL(baseUrlOf(of)).origin,
  'REDIS_URL: required with WORKERS above 1, whose processes count limits together there': (of) =>
    of.WORKERS > 1 && of.REDIS_URL === undefined,
  'METRICS: must not be the port of the service': (of) => of.METRICS?.port === of.PORT,
  'MAIL_URL: must have a user, and a password unless MAIL_OAUTH is set': ({ MAIL_URL: mail, MAIL_OAUTH: oauth }) => {
    if (mail === undefined || mail.url.startsWith('http')) return false;
    const { username, password } = new URL(mail.url);
    return oauth === undefined ? (username === '') !== (password === '') : username === '' || password !== '';
  },
  'PASSWORDS: must be required without LOGIN_BY_CODE=on': (of) =>
    of.PASSWORDS === 'optional' && of.LOGIN_BY_CODE === 'off',
};

/** What breaks a promise, or leaves nobody able to log in (ADR 0020). */
export const REFUSALS: Rules = {
  ...Object.assign({}, ...KEY_NAMES.map(keyRules)),
  ...EVERYWHERE,
  ...inProduction(IN_PRODUCTION),
};
