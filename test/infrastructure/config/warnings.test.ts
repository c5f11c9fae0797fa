// Proves operator-2
import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../../src/infrastructure/config.ts';
import { privatePem } from '../../../src/infrastructure/keys.ts';
import { ALL_ROUTES } from '../../support/http/all-routes.ts';
import { WITH_OFFICE } from '../../support/http/back-office.ts';
import { DEVELOPMENT, NO_WARNINGS } from '../../support/processes/environments.ts';

const { ADOPTION_PUBLIC_KEY } = ALL_ROUTES;

const HOOK_PRIVATE_KEY = privatePem(generateKeyPairSync('ed25519').privateKey);
const TOMORROW = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);

type Env = Readonly<Record<string, string>>;

const warningsOf = (env: Env): readonly string[] => {
  const { warnings, databaseWarnings } = parseConfig(env);
  return [...databaseWarnings, ...warnings];
};
/** The first words of the warnings: the variable that each of them is about. */
const namesOf = (env: Env): string[] => warningsOf(env).map((warning) => warning.split(/[ ,:]/)[0] ?? '');

describe('a configuration that is allowed', () => {
  it('is not warned of when nothing is wrong with it', () => {
    expect(warningsOf(NO_WARNINGS)).toEqual([]);
    expect(warningsOf(DEVELOPMENT)).toEqual([]);
  });

  it.each([
    ['no database', { DATABASE_URL: '' }, 'DATABASE_URL'],
    ['a file for a database', { DATABASE_URL: 'sqlite:x.sqlite' }, 'DATABASE_URL'],
    ['a base URL in the clear', { BASE_URL: 'http://auth.example.com' }, 'BASE_URL'],
    ['a base URL in the clear by an address', { BASE_URL: 'http://10.0.0.1:3000' }, 'BASE_URL'],
    ['an origin in the clear', { ALLOWED_ORIGINS_PROD: 'https://a.b,http://app.example.com' }, 'ALLOWED_ORIGINS_PROD'],
    ['TLS in front, and no proxy', { TRUST_PROXY: '0' }, 'TRUST_PROXY'],
    [
      'a cookie for other sites, and no other site',
      { JWT_REFRESH_COOKIE_SAME_SITE: 'none', ALLOWED_ORIGINS_PROD: '' },
      'JWT_REFRESH_COOKIE_SAME_SITE',
    ],
    ['no limit for log-ins', { RATE_LIMITS: 'global=1/1,strict=off,public=1/1' }, 'RATE_LIMITS'],
    ['tokens without an issuer', { JWT_ISSUER: '' }, 'JWT_ISSUER'],
    ['tokens for anybody', { JWT_AUDIENCE: '' }, 'JWT_AUDIENCE'],
    ['no mail', { MAIL_URL: '', MAIL_FROM: '' }, 'MAIL_URL'],
    ['a domain that nobody proves', { REGISTRATION_DOMAINS: 'example.com' }, 'REGISTRATION_DOMAINS'],
    ['no key of its own for a hook', { HOOK_BEFORE_REGISTER: 'https://hooks.example.com/' }, 'HOOK_PRIVATE_KEY'],
    ['nor for mail by HTTP', { MAIL_URL: 'https://mail.example.com/' }, 'HOOK_PRIVATE_KEY'],
    ['a key of a former system', { ADOPTION_PUBLIC_KEY, ADOPTION_ENDS: TOMORROW }, 'ADOPTION_PUBLIC_KEY'],
    [
      'the end of questions about passwords',
      { VERIFY_PASSWORDS_AT: 'https://a.b', VERIFY_PASSWORDS_UNTIL: '2026-01-31', HOOK_PRIVATE_KEY },
      'VERIFY_PASSWORDS_UNTIL',
    ],
    [
      'codes by mail, with which passwords are stored late',
      { NEW_DEVICE_CODE: 'on', VERIFY_PASSWORDS_AT: 'https://a.b', VERIFY_PASSWORDS_UNTIL: TOMORROW, HOOK_PRIVATE_KEY },
      'NEW_DEVICE_CODE',
    ],
    ['no key for these', { VERIFY_PASSWORDS_AT: 'https://a.b', VERIFY_PASSWORDS_UNTIL: TOMORROW }, 'HOOK_PRIVATE_KEY'],
    ['the end of its use', { ADOPTION_PUBLIC_KEY, ADOPTION_ENDS: '2026-01-31' }, 'ADOPTION_ENDS'],
    ['no key for authenticator apps', { FACTOR_KEYS: '' }, 'FACTOR_KEYS'],
    ['no decision about pages', { ACCOUNT_PAGES: '' }, 'ACCOUNT_PAGES'],
    ['codes without a page', { LOGIN_BY_CODE: 'on' }, 'LOGIN_BY_CODE'],
    ['a back office that others reach', { ...WITH_OFFICE, ADMIN_HOST: '10.0.0.2' }, 'ADMIN_HOST'],
    ['keys of a back office that there is not', { ...WITH_OFFICE, ADMIN_PORT: '' }, 'ADMIN_KEYS'],
    ['a back office for nobody', { ADMIN_PORT: '9470' }, 'ADMIN_PORT'],
    ['mail in the clear', { MAIL_URL: 'smtp://mailpit?requireTLS=false' }, 'MAIL_URL'],
    ['pages that cannot call', { ACCOUNT_PAGES_URL: 'https://other.example.com/account' }, 'ACCOUNT_PAGES_URL'],
    ['a Redis without a password', { REDIS_URL: 'rediss://redis.example.com' }, 'REDIS_URL'],
    ['a neighbouring Redis without a password', { REDIS_URL: 'redis://redis' }, 'REDIS_URL'],
    ['a Redis in the clear', { REDIS_URL: 'redis://:p@10.0.0.2' }, 'REDIS_URL'],
    ['sentinels in the clear', { REDIS_URL: 'redis+sentinel://:p@10.0.0.2/main' }, 'REDIS_URL'],
    ['a Redis of sentinels without a password', { REDIS_URL: 'rediss+sentinel://10.0.0.2/main' }, 'REDIS_URL'],
    ['requests without an end', { REQUEST_TIMEOUT_MS: '2147483647' }, 'REQUEST_TIMEOUT_MS'],
    ['access tokens for ever', { JWT_ACCESS_EXPIRES_IN: '2d' }, 'JWT_ACCESS_EXPIRES_IN'],
    [
      'a cookie that ends before its token',
      { JWT_REFRESH_COOKIE_MAX_AGE_MS: '604800' },
      'JWT_REFRESH_COOKIE_MAX_AGE_MS',
    ],
  ])('is warned of in production: %s', (_what, changes: Env, name) => {
    expect(namesOf({ ...NO_WARNINGS, ...changes })).toEqual([name]);
  });

  it.each([
    ['an address of this machine', { BASE_URL: 'http://localhost:8080' }],
    ['another one', { BASE_URL: 'http://127.0.0.1:8080', ALLOWED_ORIGINS_PROD: 'http://[::1]:5173' }],
    ['neighbours in a network of containers', { REDIS_URL: 'redis://:p@redis', DATABASE_URL: 'postgresql://t@pg/t' }],
    ['a Redis here', { REDIS_URL: 'redis://127.0.0.1' }],
    ['pages of an origin that may call', { ACCOUNT_PAGES_URL: 'https://app.example.com/account' }],
    ['a domain that users prove', { REGISTRATION_DOMAINS: 'example.com', EMAIL_VERIFICATION: 'required' }],
    [
      'a domain, where an invitation proves the address',
      { REGISTRATION_DOMAINS: 'example.com', REGISTRATION: 'invited' },
    ],
    ['codes with a page', { LOGIN_BY_CODE: 'on', LOGIN_PAGE_URL: 'https://app.example.com/login' }],
    ['pages of the service', { ACCOUNT_PAGES_URL: 'https://auth.example.com/me' }],
    ['pages here', { ACCOUNT_PAGES_URL: 'http://localhost:1', ALLOWED_ORIGINS_PROD: 'http://localhost:1' }],
    ['a back office here', WITH_OFFICE],
    ['mail to a server here', { MAIL_URL: 'smtp://localhost?requireTLS=false' }],
  ])('is not warned of in production: %s', (_what, changes: Env) => {
    expect(warningsOf({ ...NO_WARNINGS, ...changes })).toEqual([]);
  });

  it.each([
    ['an address that others reach', { HOST: '0.0.0.0' }, 'NODE_ENV'],
    ['another one', { HOST: '192.0.2.1' }, 'NODE_ENV'],
    ['an address for others', { BASE_URL: 'https://auth.example.com' }, 'NODE_ENV'],
  ])('is warned of in development: %s', (_what, changes: Env, name) => {
    expect(namesOf({ ...DEVELOPMENT, ...changes })).toEqual([name]);
  });

  it.each([
    [{ BASE_URL: '', MAIL_URL: '' }, ['BASE_URL', 'MAIL_URL']],
    [
      { ACCOUNT_PAGES_URL: 'http://app.example.com/me', ALLOWED_ORIGINS_PROD: 'http://app.example.com' },
      ['ALLOWED_ORIGINS_PROD', 'ACCOUNT_PAGES_URL'],
    ],
  ])('production warns of %j', (changes: Env, names) => {
    expect(namesOf({ ...NO_WARNINGS, ...changes })).toEqual(names);
  });

  it.each([
    [{ JWT_REFRESH_COOKIE_SAME_SITE: 'strict' }, ['JWT_REFRESH_COOKIE_SAME_SITE']],
    [{ JWT_REFRESH_REPLAY_WINDOW: '0' }, ['JWT_REFRESH_REPLAY_WINDOW']],
    [{ JWT_REFRESH_RACE_WINDOW: '0', JWT_REFRESH_REPLAY_WINDOW: '0' }, ['JWT_REFRESH_REPLAY_WINDOW']],
    [{ ACCESS_COOKIE_DOMAIN: '' }, ['LOGIN_PAGE_URL']],
    [{ ACCESS_COOKIE_DOMAIN: '', LOGIN_PAGE_URL: 'https://auth.example.com/log-in' }, []],
    [{ PAGE_SERVERS: `pages:${'A'.repeat(43)}` }, ['PAGE_SERVERS']],
    [{ PAGE_SERVERS: `pages:${'A'.repeat(43)}`, JWT_REFRESH_COOKIE_PATH: '/' }, []],
    [{}, []],
  ])('pages that a server renders are warned of %j', (changes: Env, names) => {
    const pages = {
      ACCESS_COOKIE: 'true',
      ACCESS_COOKIE_DOMAIN: 'example.com',
      LOGIN_PAGE_URL: 'https://app.example.com/log-in',
      JWT_REFRESH_REPLAY_WINDOW: '10s',
    };
    expect(namesOf({ ...NO_WARNINGS, ...pages, ...changes })).toEqual(names);
  });

  it('names each limit that is off', () => {
    const tiersOf = (RATE_LIMITS: string) =>
      warningsOf({ ...NO_WARNINGS, RATE_LIMITS }).map(
        (warning) => /^RATE_LIMITS has off for (\w+): /.exec(warning)?.[1],
      );
    expect(tiersOf('global=1/1,strict=off,public=off')).toEqual(['strict', 'public']);
    expect(tiersOf('off')).toEqual(['global', 'strict', 'public']);
  });

  it('is reported without its values', () => {
    const secrets = {
      DATABASE_URL: 'postgresql://u:marker0@db.example.com/x?sslmode=disable',
      REDIS_URL: 'redis://marker1.example.com',
      ALLOWED_ORIGINS_DEV: 'http://marker2.example.com',
      ALLOWED_ORIGINS_PROD: '',
      BASE_URL: 'http://marker3.example.com',
      MAIL_URL: 'smtp://marker6:marker7@marker8.example.com',
      ACCOUNT_PAGES_URL: 'http://marker9.example.com',
      JWT_SECRET: 'marker4',
      JWT_ISSUR: 'marker5',
    };
    const warnings = warningsOf({ ...NO_WARNINGS, ...secrets });
    expect(warnings.length).toBeGreaterThanOrEqual(7);
    expect(warnings.join('\n')).not.toContain('marker');
  });
});

describe('the way to the database server', () => {
  const isWarnedOf = (DATABASE_URL: string, env: Env = {}) =>
    namesOf({ ...NO_WARNINGS, DATABASE_URL, ...env }).includes('DATABASE_URL');

  it.each([
    'postgresql://u:p@db.example.com/x?sslmode=disable',
    ...['mariadb://u:p@db.example.com/x', 'mysql://u:p@192.0.2.1/x', 'postgresql://u:p@db.example.com/x'],
    ...['postgresql://u:p@10.1.2.3/x', 'postgresql://u:p@[2001:db8::1]/x', 'postgresql://u:p@db/x?sslmode=disable'],
    ...['postgresql://u:p@127.0.0.1/x?host=db.example.com', 'postgresql://u:p@db.example.com/x?sslmode=no-verify'],
    'postgresql://u:p@db.example.com/x?uselibpqcompat=true&sslmode=require',
    'postgresql://u:p@db.example.com/x?ssl=0',
  ])('is warned of: %s', (url) => {
    expect(isWarnedOf(url)).toBe(true);
  });

  it.each([
    ...['postgresql://u:p@db.example.com/x?sslmode=verify-full', 'mariadb://u:p@db.example.com/x?ssl=true'],
    ...['mysql://u:p@db/x', 'postgresql://u:p@db.example.com/x?sslmode=require'],
    ...['postgresql://u:p@db.example.com/x?ssl=true', 'postgresql://u:p@db.example.com/x?sslrootcert=/etc/ca.pem'],
    ...['postgresql://u:p@db/x', 'postgresql://u:p@localhost/x?sslmode=disable', 'postgresql://u:p@[::1]/x'],
    ...['postgresql:///x?host=/run/postgresql', 'postgresql://%2Frun%2Fpostgresql/x'],
  ])('is safe: %s', (url) => {
    expect(isWarnedOf(url)).toBe(false);
  });

  it('is what PGSSLMODE says where the URL says nothing', () => {
    const url = 'postgresql://u:p@db.example.com/x';
    expect(isWarnedOf(url, { PGSSLMODE: 'verify-full' })).toBe(false);
    expect(isWarnedOf(url, { PGSSLMODE: 'no-verify' })).toBe(true);
    expect(isWarnedOf(`${url}?sslmode=disable`, { PGSSLMODE: 'verify-full' })).toBe(true);
  });
});
