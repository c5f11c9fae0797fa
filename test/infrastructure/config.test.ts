// Proves SPEC 12.37, 12.42, 13.1, 13.3, 14.7, 22.3, 22.5, 22.7, 24.1; mail-1, operator-1, operator-4
import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { describe, expect, it } from 'vitest';
import { VARIABLE_NAMES as NAMES } from '../../src/infrastructure/config/variables.ts';
import { parseConfig } from '../../src/infrastructure/config.ts';
import { envExample } from '../support/checkout/variables.ts';
import { ACCEPTED, DEFAULT_FILE, REFUSED } from '../support/config-forms.ts';
import { blamed, problemsOf } from '../support/config-problems.ts';
import { NO_WARNINGS } from '../support/processes/environments.ts';

const KEY_NAMES = NAMES.filter((name) => /^JWT_.*_KEY$/.test(name));
/** Without what an operator reads of the variables themselves. */
const behaviourOf = (env: Readonly<Record<string, string | undefined>>) => {
  const { shownSettings: _, ...behaviour } = parseConfig(env);
  return behaviour;
};

describe('without any variable', () => {
  it('development gets its defaults', () => {
    const everywhere = ['http://localhost:3000', 'http://127.0.0.1:3000', 'http://[::1]:3000'];
    expect(parseConfig({})).toMatchObject({
      ...{ environment: 'development', host: '127.0.0.1', baseUrl: 'http://localhost:3000', application: null },
      ...{
        console: true,
        userPages: true,
        ownOrigins: everywhere,
        webauthn: { rpId: 'localhost', origins: everywhere },
      },
      ...{
        keys: null,
        jwtAccessExpiresIn: 900_000,
        jwtRefreshExpiresIn: 604_800_000,
        raceWindow: 10_000,
        replayWindow: 0,
      },
      rateLimits: {
        global: { requests: 500, window: 60_000 },
        strict: { requests: 100, window: 60_000 },
        public: null,
      },
      slowRequestThresholds: { warn: 1_000, error: 3_000 },
      ...{ database: DEFAULT_FILE, redisUrl: null, passwordBlocklist: 'off', warnings: [], databaseWarnings: [] },
      ...{ boundCookieLifetime: null, accessCookie: null, navigation: null, admin: null, providers: [] },
      refreshCookie: { path: '/auth', sameSite: 'lax', secure: false, maxAge: 604_800_000 },
      mail: { url: null, from: 'Tandem <tandem@localhost>', requireTls: false },
      ...{ accountPagesUrl: 'http://localhost:3000/auth/link', codePageUrl: 'http://localhost:3000/auth/code' },
      brand: { name: 'localhost:3000' },
    });
  });

  it('test gets those of development, and logs from info on', () => {
    expect(behaviourOf({ NODE_ENV: 'test' })).toEqual({ ...behaviourOf({}), environment: 'test', logLevel: 'info' });
  });

  it('production gets its own, once it has what it requires', () => {
    expect(parseConfig({ ...NO_WARNINGS, SHUTDOWN_DELAY: '' })).toMatchObject({
      shutdownDelay: 5_000,
      environment: 'production',
      host: '0.0.0.0',
      bcryptCost: 10,
      passwordBlocklist: 'common',
      logLevel: 'info',
      rateLimits: {
        global: { requests: 100, window: 60_000 },
        strict: { requests: 20, window: 60_000 },
        public: { requests: 1_000, window: 300_000 },
      },
      warnings: [],
      databaseWarnings: [],
    });
  });

  it('an empty one counts as unset', () => {
    const empty = Object.fromEntries(NAMES.map((name) => [name, '']));
    expect(parseConfig(empty)).toEqual(parseConfig({}));
  });
});

describe('a variable', () => {
  it.each(ACCEPTED)('%s accepts "%s"', (name, text, config) => {
    expect(parseConfig({ [name]: text })).toMatchObject(config);
  });

  it.each(NAMES.filter((name) => !KEY_NAMES.includes(name)))(
    '%s refuses what does not fit, in its own name',
    (name) => {
      const texts = REFUSED[name]?.split('|') ?? [];
      expect(texts).not.toEqual([]);
      expect(texts.map((text) => [text, blamed({ [name]: text })])).toEqual(texts.map((text) => [text, [name]]));
    },
  );
});

it('a statement is given up before the request, however short that is', () => {
  const database = (timeout: string) =>
    parseConfig({ DATABASE_URL: 'postgresql://db/x', DATABASE_POOL_SIZE: '3', REQUEST_TIMEOUT_MS: timeout }).database;
  const limits = { connectionTimeout: 600, statementTimeout: 1_000, idleTimeout: 2_000 };
  expect(database('6000')).toEqual({
    kind: 'postgresql',
    url: 'postgresql://db/x',
    poolSize: 3,
    tablePrefix: '',
    ...limits,
  });
  expect(database('1')).toMatchObject({ connectionTimeout: 1, statementTimeout: 1, idleTimeout: 1 });
});

it.each([
  [
    { BASE_URL: 'https://a.b' },
    { refreshCookie: { path: '/auth' }, accountPagesUrl: 'https://a.b/auth/link', ownAccountPages: true },
  ],
  [{ BASE_URL: 'https://a.b/x/' }, { refreshCookie: { path: '/x/auth' }, accountPagesUrl: 'https://a.b/x/auth/link' }],
  [{ BASE_URL: 'https://a.b/a,b', JWT_REFRESH_COOKIE_PATH: '/' }, { refreshCookie: { path: '/' } }],
])('%j is below BASE_URL', (env, config) => {
  expect(parseConfig(env)).toMatchObject(config);
});

it('ALLOWED_ORIGINS_PROD counts in production, ALLOWED_ORIGINS_DEV elsewhere', () => {
  const both = { ALLOWED_ORIGINS_DEV: 'http://localhost:5173', ALLOWED_ORIGINS_PROD: 'https://app.example.com' };
  const inProduction = { allowedOrigins: ['https://app.example.com'], allowedOriginsSetting: 'ALLOWED_ORIGINS_PROD' };
  expect(parseConfig({ ...NO_WARNINGS, ...both })).toMatchObject(inProduction);
  for (const NODE_ENV of ['development', 'test'])
    expect(parseConfig({ ...both, NODE_ENV }).allowedOrigins).toEqual(['http://localhost:5173']);
});

it('the cookie of the access token is for pages at allowed origins, not at those that may only use passkeys', () => {
  const { navigation, accessCookie, webauthn } = parseConfig({
    ACCESS_COOKIE: 'true',
    ALLOWED_ORIGINS_DEV: 'https://app.example',
    WEBAUTHN_ORIGINS: 'https://passkeys.example',
    LOGIN_PAGE_URL: 'https://app.example/log-in',
  });
  expect(accessCookie).toMatchObject({ name: 'access_token', path: '/', secure: false, maxAge: 900_000 });
  expect(navigation?.targetOrigins).toEqual(expect.arrayContaining(['https://app.example', 'http://localhost:3000']));
  expect(navigation?.targetOrigins).not.toContain('https://passkeys.example');
  expect(webauthn.origins).toContain('https://passkeys.example');
});

it('navigations without a user lead to the log-in page of the service, unless another one is named', () => {
  const env = { ACCESS_COOKIE: 'true', BASE_URL: 'https://example.com/auth/v1' };
  expect(parseConfig(env).navigation?.loginPageUrl).toBe('https://example.com/auth/v1/auth/log-in');
  const LOGIN_PAGE_URL = 'https://example.com/log-in';
  expect(parseConfig({ ...env, LOGIN_PAGE_URL }).navigation?.loginPageUrl).toBe(LOGIN_PAGE_URL);
});

it('production has no mail, and so no verification, without a mail server', () => {
  const mail = { url: 'smtps://tandem:p@mail.example.com', from: 'auth@example.com' };
  expect(parseConfig(NO_WARNINGS)).toMatchObject({ mail, emailVerification: 'optional' });
  expect(parseConfig({ ...NO_WARNINGS, MAIL_URL: '' })).toMatchObject({ mail: null, emailVerification: 'off' });
});

it.each([
  ['smtp://mail.example.com', true],
  ['smtp://u:p@10.0.0.7:587', true],
  ['smtp://[2001:db8::1]:25', true],
  ['smtp://mailpit:1025', true],
  ['smtp://localhost:1025', false],
  ['smtp://127.0.0.1', false],
  ['smtp://[::1]', false],
])('mail goes unencrypted to no other machine, unless it is allowed: %s', (url, requireTls) => {
  for (const env of [{}, NO_WARNINGS]) expect(parseConfig({ ...env, MAIL_URL: url }).mail?.requireTls).toBe(requireTls);
  expect(parseConfig({ MAIL_URL: `${url}?requireTLS=false` }).mail).toMatchObject({ url, requireTls: false });
});

it('the error reports every problem at once, a line each, and says what is valid', () => {
  const names = NAMES.filter((name) => name !== 'NODE_ENV');
  const env = Object.fromEntries(names.map((name) => [name, REFUSED[name]?.split('|')[0] ?? 'none']));
  expect(blamed({ ...env, NODE_ENV: 'production' }).sort()).toEqual(names.sort());
  expect(() => parseConfig(env)).toThrow(new RegExp(`^${'.+\\n'.repeat(names.length)}.+$`));
  expect(problemsOf({ PORT: 'http' })).toEqual(['PORT: expected a whole number from 0 to 65535']);
});

describe('.env.example', () => {
  const text = readFileSync(new URL('../../.env.example', import.meta.url), 'utf8');

  it('is what `npm run docs` writes', () => {
    expect(text).toBe(envExample());
  });

  it('sets nothing as it is, and what development does anyway when every line is uncommented', () => {
    expect(parseEnv(text)).toEqual({});
    const env = parseEnv(text.replaceAll(/^#(?=\w+=)/gm, ''));
    expect(Object.keys(env).sort()).toEqual([...NAMES].sort());
    expect(behaviourOf(env)).toEqual(behaviourOf({}));
  });
});
