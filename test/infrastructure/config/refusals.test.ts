// Proves SPEC 14.11; ASVS 11.4.2; network-1, operator-1
import { expect, it } from 'vitest';
import { parseConfig } from '../../../src/infrastructure/config.ts';
import { blamed, type Env } from '../../support/config-problems.ts';
import { ALL_ROUTES } from '../../support/http/all-routes.ts';
import { DEVELOPMENT, NO_WARNINGS, PRODUCTION } from '../../support/processes/environments.ts';

const SECURE = { JWT_REFRESH_COOKIE_SECURE: 'true' };
const KEY = 'A'.repeat(43);
const COOKIE = { ACCESS_COOKIE: 'true', ALLOWED_ORIGINS_DEV: 'https://app.b', ALLOWED_ORIGINS_PROD: 'https://app.b' };

const { ADOPTION_PUBLIC_KEY } = ALL_ROUTES;
const GITHUB = { OIDC_PROVIDERS: 'github', OIDC_GITHUB_CLIENT_ID: 'a', OIDC_GITHUB_CLIENT_SECRET: 'b' };
const AT = 'https://old.example.com/';
const TOMORROW = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);

type Case = readonly [refused: Env, accepted: Env, name: string];

const WITH_PAGES = {
  ADMIN_PORT: '9470',
  ADMIN_URL: 'https://office.example.com',
  ADMIN_IDENTITY_HEADER: 'Remote-User',
  ADMIN_PROXY_SECRET: 'a'.repeat(32),
};

/** The same for people who log in. */
const WITH_USERS = { ADMIN_USERS: 'roles:operator', ADMIN_URL: 'https://office.example.com', ACCOUNT_PAGES: 'on' };

/** Combinations that are refused, nearly the same ones that are accepted, and the variable that is blamed. */
const EVERYWHERE: readonly Case[] = [
  [{ JWT_ACCESS_EXPIRES_IN: '8d' }, { JWT_ACCESS_EXPIRES_IN: '7d' }, 'JWT_ACCESS_EXPIRES_IN'],
  [
    { JWT_REFRESH_RACE_WINDOW: '61s', JWT_REFRESH_EXPIRES_IN: '10m' },
    { JWT_REFRESH_RACE_WINDOW: '60s', JWT_REFRESH_EXPIRES_IN: '10m' },
    'JWT_REFRESH_RACE_WINDOW',
  ],
  [{ JWT_REFRESH_REPLAY_WINDOW: '11s' }, { JWT_REFRESH_REPLAY_WINDOW: '10s' }, 'JWT_REFRESH_REPLAY_WINDOW'],
  [
    { JWT_REFRESH_REPLAY_WINDOW: '1s', JWT_REFRESH_RACE_WINDOW: '0' },
    { JWT_REFRESH_REPLAY_WINDOW: '0', JWT_REFRESH_RACE_WINDOW: '0' },
    'JWT_REFRESH_REPLAY_WINDOW',
  ],
  // A short lifetime leaves a short race window.
  [
    { JWT_REFRESH_REPLAY_WINDOW: '10s', JWT_REFRESH_EXPIRES_IN: '60s' },
    { JWT_REFRESH_REPLAY_WINDOW: '6s', JWT_REFRESH_EXPIRES_IN: '60s' },
    'JWT_REFRESH_REPLAY_WINDOW',
  ],
  [
    { ...SECURE, JWT_REFRESH_COOKIE_PREFIX: '__Host-Http-', JWT_REFRESH_COOKIE_PATH: '/auth' },
    { ...SECURE, JWT_REFRESH_COOKIE_PREFIX: '__Host-Http-', JWT_REFRESH_COOKIE_PATH: '/' },
    'JWT_REFRESH_COOKIE_PATH',
  ],
  [{ BASE_URL: 'https://b.c/a;D' }, { BASE_URL: 'https://b.c/a;D', JWT_REFRESH_COOKIE_PATH: '/' }, 'BASE_URL'],
  [
    { ...COOKIE, ACCOUNT_PAGES: 'off' },
    { ...COOKIE, ACCOUNT_PAGES: 'off', LOGIN_PAGE_URL: 'https://app.b/log-in' },
    'LOGIN_PAGE_URL',
  ],
  [
    { ...COOKIE, LOGIN_PAGE_URL: 'https://passkeys.b/log-in', WEBAUTHN_ORIGINS: 'https://passkeys.b' },
    { ...COOKIE, LOGIN_PAGE_URL: 'https://app.b/log-in', WEBAUTHN_ORIGINS: 'https://passkeys.b' },
    'LOGIN_PAGE_URL',
  ],
  [{ JWT_BINDING: 'on', DEVICE_BINDING: 'observe' }, { JWT_BINDING: 'on' }, 'JWT_BINDING'],
  [{ ACCESS_COOKIE_DOMAIN: 'other.com' }, { ACCESS_COOKIE_DOMAIN: 'example.com' }, 'ACCESS_COOKIE_DOMAIN'],
  [{ ACCESS_COOKIE_DOMAIN: 'com' }, { ACCESS_COOKIE_DOMAIN: 'auth.example.com' }, 'ACCESS_COOKIE_DOMAIN'],
  [{ WEBAUTHN_RP_ID: 'xample.com' }, { WEBAUTHN_RP_ID: 'example.com' }, 'WEBAUTHN_RP_ID'],
  [{ PASSWORDS: 'optional' }, { PASSWORDS: 'optional', LOGIN_BY_CODE: 'on' }, 'PASSWORDS'],
  [{ VERIFY_PASSWORDS_UNTIL: '9999-01-01' }, { VERIFY_PASSWORDS_UNTIL: TOMORROW }, 'VERIFY_PASSWORDS_UNTIL'],
  [{ ADOPTION_ENDS: '9999-01-01' }, { ADOPTION_ENDS: TOMORROW }, 'ADOPTION_ENDS'],
  [{ ADMIN_PORT: '9470', PORT: '9470' }, { ADMIN_PORT: '9470', PORT: '9471' }, 'ADMIN_PORT'],
  [{ ADMIN_PORT: '9470', METRICS: '9470' }, { ADMIN_PORT: '9470', METRICS: '9471' }, 'ADMIN_PORT'],
  [{ ...WITH_PAGES, ADMIN_PROXY_SECRET: '' }, WITH_PAGES, 'ADMIN_PROXY_SECRET'],
  [{ ...WITH_PAGES, ADMIN_IDENTITY_HEADER: '' }, WITH_PAGES, 'ADMIN_IDENTITY_HEADER'],
  [{ ...WITH_USERS, ...WITH_PAGES }, WITH_PAGES, 'ADMIN_USERS'],
  [{ ...WITH_USERS, ACCOUNT_PAGES: 'off' }, WITH_USERS, 'ADMIN_USERS'],
  [{ ...WITH_USERS, BASE_URL: WITH_USERS.ADMIN_URL }, WITH_USERS, 'ADMIN_URL'],
  [{ WORKERS: '2', REDIS_URL: '' }, { WORKERS: '2', REDIS_URL: 'rediss://:p@redis.b' }, 'REDIS_URL'],
  [{ METRICS: '9464', PORT: '9464' }, { METRICS: '9464', PORT: '9465' }, 'METRICS'],
];

const IN_PRODUCTION: readonly Case[] = [
  [{ ...WITH_PAGES, ADMIN_URL: '' }, WITH_PAGES, 'ADMIN_URL'],
  [{ ...WITH_USERS, ADMIN_URL: '' }, WITH_USERS, 'ADMIN_URL'],
  [{ ...WITH_USERS, ADMIN_URL: 'http://office.example.com' }, WITH_USERS, 'ADMIN_URL'],
  [
    { ADMIN_PORT: '9470', ADMIN_HOST: '0.0.0.0' },
    { ADMIN_PORT: '9470', ADMIN_HOST: '0.0.0.0', ADMIN_URL: 'https://office.example.com' },
    'ADMIN_URL',
  ],
  [{ JWT_REFRESH_COOKIE_SECURE: 'false' }, {}, 'JWT_REFRESH_COOKIE_SECURE'],
  [{ JWT_REFRESH_COOKIE_SECURE: '' }, {}, 'JWT_REFRESH_COOKIE_SECURE'],
  [
    { MAIL_URL: 'smtps://u@mail.example.com' },
    { MAIL_URL: 'smtps://u@mail.example.com', MAIL_OAUTH: 'https://id:secret@login.example.com/token' },
    'MAIL_URL',
  ],
  [{ BCRYPT_COST: '9' }, { BCRYPT_COST: '10' }, 'BCRYPT_COST'],
  [{ ALLOWED_ORIGINS_PROD: '*' }, {}, 'ALLOWED_ORIGINS_PROD'],
  [
    { VERIFY_PASSWORDS_AT: AT },
    { VERIFY_PASSWORDS_AT: AT, VERIFY_PASSWORDS_UNTIL: TOMORROW },
    'VERIFY_PASSWORDS_UNTIL',
  ],
  [
    { VERIFY_PASSWORDS_AT: 'http://localhost/', VERIFY_PASSWORDS_UNTIL: TOMORROW },
    { VERIFY_PASSWORDS_AT: AT, VERIFY_PASSWORDS_UNTIL: TOMORROW },
    'VERIFY_PASSWORDS_AT',
  ],
  [
    { ADOPTION_PUBLIC_KEY, ADOPTION_ENDS: TOMORROW, BASE_URL: '', MAIL_URL: '' },
    { BASE_URL: '', MAIL_URL: '' },
    'BASE_URL',
  ],
  ...[PRODUCTION.JWT_ACCESS_PUBLIC_KEY, PRODUCTION.JWT_REFRESH_PUBLIC_KEY].map(
    (own): Case => [
      { ADOPTION_PUBLIC_KEY: `${ADOPTION_PUBLIC_KEY}${own}`, ADOPTION_ENDS: TOMORROW },
      { ADOPTION_PUBLIC_KEY, ADOPTION_ENDS: TOMORROW },
      'ADOPTION_PUBLIC_KEY',
    ],
  ),
  [{ ...GITHUB, BASE_URL: '', MAIL_URL: '' }, GITHUB, 'BASE_URL'],
  [{ ADOPTION_PUBLIC_KEY }, { ADOPTION_PUBLIC_KEY, ADOPTION_ENDS: TOMORROW }, 'ADOPTION_ENDS'],
  [{ HOOK_BEFORE_REGISTER: 'http://localhost/' }, { HOOK_BEFORE_REGISTER: 'https://a.b/' }, 'HOOK_BEFORE_REGISTER'],
  [{ APP_LINKS: 'com.example.app:/' }, { APP_LINKS: 'com.example.app:/', ACCOUNT_PAGES: 'on' }, 'APP_LINKS'],
  [{ SECOND_FACTOR: 'required', FACTOR_KEYS: '' }, { SECOND_FACTOR: 'required', FACTOR_KEYS: KEY }, 'SECOND_FACTOR'],
  [{ MAIL_FROM: '' }, { MAIL_FROM: '', MAIL_URL: '' }, 'MAIL_FROM'],
  [{ BASE_URL: '' }, { BASE_URL: '', MAIL_URL: '' }, 'BASE_URL'],
  [{ BASE_URL: '', MAIL_URL: '', ACCOUNT_PAGES: 'on' }, { BASE_URL: '', MAIL_URL: '', ACCOUNT_PAGES: '' }, 'BASE_URL'],
  [{ MAIL_URL: '', EMAIL_VERIFICATION: 'optional' }, { EMAIL_VERIFICATION: 'optional' }, 'EMAIL_VERIFICATION'],
  [{ MAIL_URL: '', EMAIL_VERIFICATION: 'required' }, { MAIL_URL: '', EMAIL_VERIFICATION: 'off' }, 'EMAIL_VERIFICATION'],
  [{ MAIL_URL: '', LOGIN_BY_CODE: 'on' }, { LOGIN_BY_CODE: 'on' }, 'LOGIN_BY_CODE'],
  [{ MAIL_URL: '', NEW_DEVICE_CODE: 'on' }, { NEW_DEVICE_CODE: 'on' }, 'NEW_DEVICE_CODE'],
  [
    { BASE_URL: '', MAIL_URL: '', JWT_REFRESH_COOKIE_PATH: '/api/auth' },
    { BASE_URL: '', MAIL_URL: '', JWT_REFRESH_COOKIE_PATH: '/auth' },
    'JWT_REFRESH_COOKIE_PATH',
  ],
];

/** Production refuses an insecure cookie anyway. */
const OUTSIDE_PRODUCTION: readonly Case[] = (
  [
    { JWT_REFRESH_COOKIE_SAME_SITE: 'none' },
    { JWT_REFRESH_COOKIE_PREFIX: '__Http-' },
    { JWT_REFRESH_COOKIE_PREFIX: '__Host-Http-' },
  ] as const
).map((env) => [env, { ...env, ...SECURE }, 'JWT_REFRESH_COOKIE_SECURE']);

const IN_DEVELOPMENT = { ...DEVELOPMENT, BASE_URL: 'https://auth.example.com' };

it.each([
  ...EVERYWHERE.flatMap((row) => [
    ['development', IN_DEVELOPMENT, row],
    ['production', NO_WARNINGS, row],
  ]),
  ...IN_PRODUCTION.map((row) => ['production', NO_WARNINGS, row]),
  ...OUTSIDE_PRODUCTION.map((row) => ['development', IN_DEVELOPMENT, row]),
] as [string, Env, Case][])('%s refuses and accepts %j', (_environment, base, [refused, accepted, name]) => {
  expect(blamed({ ...base, ...refused })).toEqual([name]);
  expect(blamed({ ...base, ...accepted })).toEqual([]);
});

it.each([
  ['https://auth.example.com', '/auth', true],
  ['https://auth.example.com', '/auth/', true],
  ['https://auth.example.com', '/', true],
  ['https://auth.example.com', '/auth/refresh-token', false],
  ['https://auth.example.com', '/aut', false],
  ['https://auth.example.com', '/authority', false],
  ['https://auth.example.com', '/Auth', false],
  ['https://auth.example.com', '/api/auth', false],
  ['https://example.com/api', '/api/auth', true],
  ['https://example.com/api/', '/api', true],
  ['https://example.com/api', '/auth', false],
  ['https://example.com/api', '/api/v1/auth', false],
  ['https://example.com/%61pi', '/%61pi/auth', true],
])('of a service at %s a cookie of the path %s goes to refresh and log-out: %s', (url, path, goes) => {
  for (const base of [DEVELOPMENT, NO_WARNINGS])
    expect(blamed({ ...base, BASE_URL: url, JWT_REFRESH_COOKIE_PATH: path })).toEqual(
      goes ? [] : ['JWT_REFRESH_COOKIE_PATH'],
    );
});

it('any cookie path is accepted in development without BASE_URL, where a proxy may stand in front', () => {
  expect(parseConfig({ JWT_REFRESH_COOKIE_PATH: '/api/auth' }).refreshCookie.path).toBe('/api/auth');
});

it('a prefix for the whole host selects the path /', () => {
  const cookie = (prefix: string) =>
    parseConfig({ ...SECURE, BASE_URL: 'https://a.b/x', JWT_REFRESH_COOKIE_PREFIX: prefix }).refreshCookie;
  expect(cookie('__Host-Http-')).toMatchObject({ prefix: '__Host-Http-', path: '/' });
  expect(cookie('__Http-')).toMatchObject({ prefix: '__Http-', path: '/x/auth' });
});

it.each([
  ...['JWT_REFRESH_EXPIRES_IN', 'JWT_REFRESH_RACE_WINDOW', 'JWT_REFRESH_COOKIE_PATH', 'BASE_URL', 'REDIS_URL'],
  ...['DATABASE_URL', 'REQUEST_TIMEOUT_MS', 'METRICS', 'PORT', 'MAIL_URL', 'MAIL_FROM', 'MAIL_NOTICES'],
])('%s is blamed alone when it does not fit, and not what depends on it', (name) => {
  const others = { JWT_REFRESH_REPLAY_WINDOW: '10s', METRICS: '9464' };
  for (const base of [IN_DEVELOPMENT, PRODUCTION])
    expect(blamed({ ...base, ...others, [name]: 'unfit' })).toEqual([name]);
});
