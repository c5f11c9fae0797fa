import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { describe, expect, it } from 'vitest';
import { CONFIG_VARIABLES, ConfigError, parseConfig } from '../../src/infrastructure/config.ts';
import { envExample } from '../support/checkout/variables.ts';
import { blamed, type Env, problemsOf } from '../support/config-problems.ts';
import { NO_WARNINGS } from '../support/processes/environments.ts';

const pair = (namedCurve = 'P-256') => generateKeyPairSync('ec', { namedCurve });
const pkcs8 = (key: KeyObject) => key.export({ type: 'pkcs8', format: 'pem' }).toString();
const sec1 = (key: KeyObject) => key.export({ type: 'sec1', format: 'pem' }).toString();
const spki = (key: KeyObject) => key.export({ type: 'spki', format: 'pem' }).toString();

const access = pair();
const refresh = pair();
const KEYS = {
  JWT_ACCESS_PRIVATE_KEY: pkcs8(access.privateKey),
  JWT_ACCESS_PUBLIC_KEY: spki(access.publicKey),
  JWT_REFRESH_PRIVATE_KEY: pkcs8(refresh.privateKey),
  JWT_REFRESH_PUBLIC_KEY: spki(refresh.publicKey),
};
const PRODUCTION = { ...NO_WARNINGS, ...KEYS };
/** One more than is allowed. */
const FACTOR_KEYS = Array.from({ length: 11 }, (_, index) => Buffer.alloc(32, index).toString('base64url'));
const [KEY_0 = '', KEY_1 = ''] = FACTOR_KEYS;
/** Times in milliseconds. */
const DEFAULT_POOL = {
  poolSize: 10,
  connectionTimeout: 3_000,
  statementTimeout: 5_000,
  idleTimeout: 10_000,
  tablePrefix: '',
};
const DEFAULT_FILE = { kind: 'sqlite', path: '.data/database.sqlite', synchronous: 'normal', tablePrefix: '' };

describe('a PostgreSQL', () => {
  const DATABASE_URL = 'postgresql://db/tandem';

  it('is used as the variables say', () => {
    const { database } = parseConfig({
      DATABASE_URL,
      DATABASE_POOL_SIZE: '3',
      REQUEST_TIMEOUT_MS: '6000',
    });
    expect(database).toEqual({
      kind: 'postgresql',
      url: DATABASE_URL,
      poolSize: 3,
      connectionTimeout: 600,
      statementTimeout: 1_000,
      idleTimeout: 2_000,
      tablePrefix: '',
    });
  });

  it('is given up before the request is, however short that is', () => {
    const { database } = parseConfig({ DATABASE_URL, REQUEST_TIMEOUT_MS: '1' });
    expect(database).toMatchObject({ connectionTimeout: 1, statementTimeout: 1, idleTimeout: 1 });
  });
});

describe('without any variable', () => {
  it('development gets its defaults', () => {
    expect(parseConfig({})).toEqual({
      environment: 'development',
      host: '127.0.0.1',
      port: 3000,
      baseUrl: 'http://localhost:3000',
      allowedOrigins: [],
      allowedOriginsSetting: 'ALLOWED_ORIGINS_DEV',
      allowedHeaders: [],
      passkeysPageUrl: null,
      application: null,
      console: true,
      ownOrigins: ['http://localhost:3000', 'http://127.0.0.1:3000', 'http://[::1]:3000'],
      webauthn: {
        rpId: 'localhost',
        origins: ['http://localhost:3000', 'http://127.0.0.1:3000', 'http://[::1]:3000'],
      },
      sessionMaxLifetime: 30 * 86_400_000,
      authenticationClaims: false,
      trustProxy: 0,
      requestTimeout: 30_000,
      slowRequest: { warn: 1_000, error: 3_000 },
      rateLimits: {
        global: { requests: 500, window: 60_000 },
        strict: { requests: 100, window: 60_000 },
        public: null,
      },
      database: DEFAULT_FILE,
      dataDir: '.data',
      migrateOnStart: true,
      shutdownDelay: 0,
      redisUrls: [],
      bcryptCost: 10,
      passwordBlocklist: 'off',
      keys: null,
      issuer: null,
      audience: null,
      accessLifetime: 900_000,
      refreshLifetime: 604_800_000,
      raceWindow: 10_000,
      replayWindow: 0,
      deviceBinding: 'enforce',
      boundCookieLifetime: null,
      accessCookie: null,
      navigation: null,
      pageServers: [],
      refreshCookie: { path: '/auth', sameSite: 'lax', secure: false, maxAge: 604_800_000 },
      logLevel: 'debug',
      warnings: [],
      databaseWarnings: [],
      metrics: null,
      mail: { url: null, from: 'Tandem <tandem@localhost>', requireTls: false },
      accountPagesUrl: 'http://localhost:3000/account',
      ownAccountPages: true,
      emailVerification: 'optional',
      secondFactor: 'optional',
      eventsRetention: 15_552_000_000,
      notices: new Set(['new-device', 'password', 'email', 'replay', 'factors']),
      factorKeys: null,
      brand: { name: 'localhost:3000', logoUrl: null, color: null },
      defaultLocale: 'en',
      mailTemplates: null,
    });
  });

  it('test gets those of development, and logs from info on', () => {
    expect(parseConfig({ NODE_ENV: 'test' })).toEqual({ ...parseConfig({}), environment: 'test', logLevel: 'info' });
  });

  it('production gets its own, once it has what it requires', () => {
    expect(parseConfig({ ...PRODUCTION, SHUTDOWN_DELAY: '' })).toMatchObject({
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
    const empty = Object.fromEntries(CONFIG_VARIABLES.map(({ name }) => [name, '']));
    expect(parseConfig(empty)).toEqual(parseConfig({}));
  });
});

const NON_ORIGINS = [
  '*',
  'null',
  'https://*.example.com',
  'https://a.example/',
  'https://a.example/path',
  'https://a.example:443',
  'HTTPS://a.example',
  'https://A.example',
  'https://u@a.example',
  'a.example',
  'ws://a.example',
  'file:///x',
  'file://',
  'file://localhost',
  'android://a',
  'data://a',
  'javascript://a',
  'capacitor:localhost',
  'capacitor://',
  'capacitor://*',
  'capacitor://localhost/',
  'capacitor://localhost:0',
  'Capacitor://localhost',
  'capacitor://u@localhost',
  "app://-;script-src'*'",
  'https://a.example,*',
  'https://a.example https://b.example',
];
const NO_DURATIONS = ['15', '0s', '-1s', '15 m', '1w', '4000d', 'soon'];
const NO_WINDOWS = [...NO_DURATIONS, '301s', '6m', '15m', '7d', '3650d'];
const NO_LIMITS = ['100', '100/', '0/60', '100/0', '100/60s', '1.5/60', '100/90000', 'OFF', '-1/60'];
const NOT_CONFIGURED = ['two words', 'ü', '1:no-uri', 'a'.repeat(201), 'a\0'];
const NO_FLAGS = ['yes', '1', 'TRUE', ' true'];

type Form = { readonly fits: Readonly<Record<string, object>>; readonly unfit: readonly string[] };

/** Of each variable: texts that fit, with what they come to, and texts that don't. The keys have tests of their own. */
const FORMS: Readonly<Record<string, Form>> = {
  NODE_ENV: { fits: { test: { environment: 'test' } }, unfit: ['prod', 'Production', ' test'] },
  HOST: {
    fits: { '::1': { host: '::1' }, '0.0.0.0': { host: '0.0.0.0' }, 'auth.internal': { host: 'auth.internal' } },
    unfit: ['http://localhost', 'a b', '127.0.0.1:3000', '-'],
  },
  PORT: {
    fits: { '0': { port: 0 }, '65535': { port: 65_535, baseUrl: 'http://localhost:65535' } },
    unfit: ['65536', '-1', '3000.5', '0x10', '1e3', ' 80', '080', 'http'],
  },
  BASE_URL: {
    fits: {
      'https://auth.example.com': { baseUrl: 'https://auth.example.com' },
      'https://example.com/auth/': { baseUrl: 'https://example.com/auth' },
      'http://localhost:8080//': { baseUrl: 'http://localhost:8080' },
      'https://example.com//a//b//': { baseUrl: 'https://example.com//a//b' },
    },
    unfit: [
      'example.com',
      'ftp://example.com',
      'https://',
      'https://u:p@example.com',
      'https://example.com?',
      'https://example.com/#a',
      'https://*.example.com',
      'https://exam\nple.com',
    ],
  },
  ALLOWED_ORIGINS_DEV: {
    fits: {
      'http://localhost:5173': { allowedOrigins: ['http://localhost:5173'] },
      ' https://a.example , http://[::1]:8080 ,': { allowedOrigins: ['https://a.example', 'http://[::1]:8080'] },
      'capacitor://localhost,https://a.example': {
        allowedOrigins: ['capacitor://localhost', 'https://a.example'],
        application: 'https://a.example',
      },
      'tauri://localhost, ionic://localhost:8080': {
        allowedOrigins: ['tauri://localhost', 'ionic://localhost:8080'],
        application: null,
      },
      'chrome-extension://abcdefghijklmnopabcdefghijklmnop,moz-extension://2c127fa4-62c7-7e4f-90e5-472b45eecfdc,app://-,app://.,app://obsidian.md':
        { application: null },
    },
    unfit: NON_ORIGINS,
  },
  ALLOWED_ORIGINS_PROD: { fits: { 'https://a.example': { allowedOrigins: [] } }, unfit: NON_ORIGINS },
  WEBAUTHN_ORIGINS: {
    fits: {
      [`android:apk-key-hash:${KEY_1}, https://app.example`]: {
        webauthn: expect.objectContaining({
          origins: expect.arrayContaining([
            `android:apk-key-hash:${KEY_1}`,
            'https://app.example',
            'http://localhost:3000',
          ]),
        }) as never,
      },
    },
    unfit: [
      '*',
      'null',
      'android:apk-key-hash:',
      `android:apk-key-hash:${KEY_1}=`,
      'ios:bundle-id:org.example.app',
      'https://app.example/',
      Array.from({ length: 51 }, (_, at) => `https://a${at}.example`).join(','),
    ],
  },
  PASSKEYS_PAGE_URL: {
    fits: { 'https://app.example/me?tab=keys': { passkeysPageUrl: 'https://app.example/me?tab=keys' } },
    unfit: ['app.example/me', '/me', 'https://u:p@app.example/', 'https://app.example/#keys', 'javascript:1'],
  },
  ALLOWED_HEADERS: {
    fits: { 'traceparent, baggage,sentry-trace': { allowedHeaders: ['traceparent', 'baggage', 'sentry-trace'] } },
    unfit: [
      '*',
      'a b',
      'a:b',
      'a\r\nb',
      'ä',
      'x'.repeat(101),
      Array.from({ length: 51 }, (_, at) => `x${at}`).join(','),
    ],
  },
  WEBAUTHN_RP_ID: {
    fits: { localhost: { webauthn: expect.objectContaining({ rpId: 'localhost' }) as never } },
    unfit: [
      'https://example.com',
      'Example.com',
      'example.com:443',
      '127.0.0.1',
      'example..com',
      '*.example.com',
      'evil.test',
    ],
  },
  SESSION_MAX_LIFETIME: {
    fits: { off: { sessionMaxLifetime: null }, '12h': { sessionMaxLifetime: 43_200_000 } },
    unfit: ['0', '-1d', 'never'],
  },
  ACCESS_COOKIE: { fits: { false: { accessCookie: null } }, unfit: ['1', 'yes'] },
  ACCESS_COOKIE_DOMAIN: {
    fits: { localhost: { accessCookie: null } },
    unfit: ['https://example.com', 'Example.com', 'evil.test'],
  },
  LOGIN_PAGE_URL: {
    fits: { 'http://localhost:3000/log-in?from=pages': { navigation: null } },
    unfit: [
      '/log-in',
      'localhost/log-in',
      'http://localhost:3000/#log-in',
      'http://u:p@localhost:3000/',
      'https://evil.test/',
      'javascript:1',
    ],
  },
  PAGE_SERVERS: {
    fits: {
      [`pages:${KEY_0}, pages:${KEY_1}`]: {
        pageServers: [
          { id: 'pages', secretHash: Buffer.alloc(32, 0) },
          { id: 'pages', secretHash: Buffer.alloc(32, 1) },
        ],
      },
    },
    unfit: ['pages', 'pages:secret', `:${KEY_0}`, `pages:${KEY_0},`, `a b:${KEY_0}`, `pages:${KEY_0}=`],
  },
  JWT_AUTHENTICATION_CLAIMS: { fits: { true: { authenticationClaims: true } }, unfit: ['1', 'yes'] },
  TRUST_PROXY: { fits: { '2': { trustProxy: 2 } }, unfit: ['-1', '1.5', 'true', '101'] },
  REQUEST_TIMEOUT_MS: {
    fits: { '1': { requestTimeout: 1 }, '2147483647': { requestTimeout: 2_147_483_647 } },
    unfit: ['0', '2147483648', '30s', '-1'],
  },
  SLOW_REQUEST_THRESHOLDS: {
    fits: { '{"warn":5,"error":5}': { slowRequest: { warn: 5, error: 5 } } },
    unfit: [
      '1000',
      '{',
      'null',
      '[1,2]',
      '{"warn":1}',
      '{"warn":2,"error":1}',
      '{"warn":-1,"error":1}',
      '{"warn":1,"error":1e999}',
      '{"warn":"1","error":"2"}',
      '{"warn":1,"error":2,"fatal":3}',
    ],
  },
  RATE_LIMITS: {
    fits: {
      'global=7/30,strict=1/86400,public=off': {
        rateLimits: {
          global: { requests: 7, window: 30_000 },
          strict: { requests: 1, window: 86_400_000 },
          public: null,
        },
      },
      'public=1/1, global=off, strict=2/1': {
        rateLimits: { global: null, strict: { requests: 2, window: 1_000 }, public: { requests: 1, window: 1_000 } },
      },
      off: { rateLimits: { global: null, strict: null, public: null } },
      'strict=7/30': {
        rateLimits: {
          global: { requests: 500, window: 60_000 },
          strict: { requests: 7, window: 30_000 },
          public: null,
        },
      },
      'public=1/1,global=off': {
        rateLimits: { global: null, strict: { requests: 100, window: 60_000 }, public: { requests: 1, window: 1_000 } },
      },
    },
    unfit: [
      ...NO_LIMITS,
      '7/30',
      'global=7/30,',
      'other=7/30',
      'global=7/30,strict=7/30,public=7/30,other=7/30',
      'global=7/30,strict=7/30,strict=7/30',
      ...NO_LIMITS.map((limit) => `global=7/30,strict=${limit},public=off`),
    ],
  },
  METRICS: {
    fits: {
      off: { metrics: null },
      '9464': { metrics: { host: '127.0.0.1', port: 9464 } },
      '0.0.0.0:9464': { metrics: { host: '0.0.0.0', port: 9464 } },
      '[::1]:9464': { metrics: { host: '::1', port: 9464 } },
    },
    unfit: ['on', '0', '65536', 'localhost', 'db.example:9464', ':9464', '3000', '::1:9464', '[::1:9464', '[::1]9464'],
  },
  DATABASE_POOL_SIZE: {
    fits: { '3': {} },
    unfit: ['0', '1001', 'many'],
  },
  DATA_DIR: {
    fits: { '/var/lib/tandem': { dataDir: '/var/lib/tandem', database: { path: '/var/lib/tandem/database.sqlite' } } },
    unfit: ['a\0b', 'a\nb', '~/data', ' ', '.data ', '\u00a0data'],
  },
  DATABASE_URL: {
    fits: {
      'postgres://u:p%40@db:5432/tandem': {
        database: { ...DEFAULT_POOL, kind: 'postgresql', url: 'postgres://u:p%40@db:5432/tandem' },
      },
      'postgresql://db/tandem': { database: { ...DEFAULT_POOL, kind: 'postgresql', url: 'postgresql://db/tandem' } },
      'postgresql://u:p@/db?host=/cloudsql/p:r:i': {
        database: { url: 'postgresql://u:p@localhost/db?host=/cloudsql/p:r:i' },
      },
      'postgres:///db?sslmode=disable&host=/run': {
        database: { url: 'postgres://localhost/db?sslmode=disable&host=/run' },
      },
      'mariadb://u:p@db/x': { database: { ...DEFAULT_POOL, kind: 'mariadb', url: 'mariadb://u:p@db/x' } },
      'mysql://u:p@db:3306/x': { database: { ...DEFAULT_POOL, kind: 'mysql', url: 'mysql://u:p@db:3306/x' } },
      'sqlite:data/x.sqlite': { database: { ...DEFAULT_FILE, path: 'data/x.sqlite' } },
      'sqlite:/var/lib/x.sqlite?synchronous=full': {
        database: { ...DEFAULT_FILE, path: '/var/lib/x.sqlite', synchronous: 'full' },
      },
      'sqlite:///var/lib/x y.sqlite': { database: { path: '/var/lib/x y.sqlite' } },
    },
    unfit: [
      'sqlite:',
      'sqlite::memory:',
      'sqlite://x.sqlite',
      'sqlite:~/x.sqlite',
      'sqlite:x.sqlite?synchronous=off',
      'sqlite:x.sqlite#y',
      'sqlserver://db/x',
      'mysql://db:port/x',
      'db',
      'memory:',
      'postgres://db:port/x',
      'postgres://u:p@/x',
      'postgresql',
      'postgres://u:%zz@db/x',
      'postgres://d\nb/x',
      'postgres://db/x?statement_timeout=0',
      'postgres://db/x?sslmode=require&query_timeout=1',
      'postgres://db/x?idle_in_transaction_session_timeout=0',
    ],
  },
  DATABASE_TABLE_PREFIX: {
    fits: { auth_: { database: { tablePrefix: 'auth_' } } },
    unfit: ['_', '1a', 'Auth_', 'a-b', 'a.b', 'a"', `a${'b'.repeat(31)}`],
  },
  SHUTDOWN_DELAY: {
    fits: { '0': { shutdownDelay: 0 }, '1m': { shutdownDelay: 60_000 } },
    unfit: ['5', '61s', '-1s', 'off'],
  },
  MIGRATE_ON_START: { fits: { false: { migrateOnStart: false } }, unfit: NO_FLAGS },
  REDIS_URL: {
    fits: {
      'redis://localhost:6379': { redisUrls: ['redis://localhost:6379'] },
      'rediss://u:p@r:6380/1': { redisUrls: ['rediss://u:p@r:6380/1'] },
      'redis://:p@a:1, redis://:p@b:2/': { redisUrls: ['redis://:p@a:1', 'redis://:p@b:2/'] },
      'redis://r?family=6': { redisUrls: ['redis://r?family=6'] },
      'redis+sentinel://s/main': { redisUrls: ['redis+sentinel://s/main'] },
      'rediss+sentinel://u:p%2C@a:1, [::1]:2,c/main-1/2?family=4&sentinel_username=u&sentinel_password=p': {
        redisUrls: ['a:1', '[::1]:2', 'c'].map(
          (host) => `rediss+sentinel://u:p%2C@${host}/main-1/2?family=4&sentinel_username=u&sentinel_password=p`,
        ),
      },
    },
    unfit: [
      'localhost:6379',
      'http://localhost',
      'redis',
      ',',
      'redis://a,',
      'redis://a,http://b',
      'redis://a,rediss://b',
      'redis://:p@a,redis://b',
      'redis://a/1,redis://b/1',
      'redis://u:%zz@a',
      'redis://',
      'redis://a/x',
      'redis://a?commandTimeout=0',
      'redis://a?family=6&enableOfflineQueue=1',
      'redis://a?family=6,redis://b?family=6',
      'redis+sentinel://',
      'redis+sentinel:///main',
      'redis+sentinel://a,/main',
      'redis+sentinel://a:x/main',
      'redis+sentinel://a,redis+sentinel://b/main',
      'redis+sentinel://u:%zz@a/main',
      'redis-sentinel://a/main',
      'r\nedis://a',
    ],
  },
  JWT_ISSUER: {
    fits: { 'https://auth.example.org': { issuer: 'https://auth.example.org' }, tandem: { issuer: 'tandem' } },
    unfit: NOT_CONFIGURED,
  },
  JWT_AUDIENCE: { fits: { 'urn:example:api': { audience: 'urn:example:api' } }, unfit: NOT_CONFIGURED },
  BCRYPT_COST: {
    fits: { '4': { bcryptCost: 4 }, '15': { bcryptCost: 15 } },
    unfit: ['3', '16', '10.5', 'ten', '-10', '010'],
  },
  JWT_ACCESS_EXPIRES_IN: { fits: { '10m': { accessLifetime: 600_000 } }, unfit: [...NO_DURATIONS, '0'] },
  JWT_REFRESH_EXPIRES_IN: { fits: { '1d': { refreshLifetime: 86_400_000 } }, unfit: [...NO_DURATIONS, '0'] },
  JWT_REFRESH_RACE_WINDOW: {
    fits: { '30s': { raceWindow: 30_000 }, '5m': { raceWindow: 300_000 }, '0': { raceWindow: 0 } },
    unfit: NO_WINDOWS,
  },
  DEVICE_BINDING: {
    fits: {
      enforce: { deviceBinding: 'enforce' },
      observe: { deviceBinding: 'observe' },
      off: { deviceBinding: 'off' },
    },
    unfit: ['on', 'true', 'Enforce'],
  },
  JWT_REFRESH_REPLAY_WINDOW: {
    fits: { '5s': { replayWindow: 5_000 }, '0': { replayWindow: 0 } },
    unfit: NO_WINDOWS,
  },
  JWT_REFRESH_COOKIE_PREFIX: {
    // Each needs another variable: config/refusals.test.ts.
    fits: {},
    unfit: ['__Host-', '__Secure-', '__http-', 'none'],
  },
  JWT_REFRESH_COOKIE_PATH: {
    fits: { '/': { refreshCookie: { path: '/' } }, '/api/auth': { refreshCookie: { path: '/api/auth' } } },
    unfit: ['auth', '/a;b', '/a,b', '/a b', '/a\r\nb', '/ü', '/\x7f'],
  },
  JWT_REFRESH_COOKIE_SAME_SITE: {
    fits: { strict: { refreshCookie: { sameSite: 'strict' } } },
    unfit: ['Strict', 'no'],
  },
  JWT_REFRESH_COOKIE_SECURE: { fits: { true: { refreshCookie: { secure: true } } }, unfit: NO_FLAGS },
  JWT_REFRESH_COOKIE_MAX_AGE_MS: {
    fits: { '1000': { refreshCookie: { maxAge: 1_000 } } },
    unfit: ['999', '0', '7d', '1e9', '315360000001'],
  },
  MAIL_URL: {
    fits: Object.fromEntries(
      [
        'smtp://localhost:1025',
        'smtps://mail.example.com/',
        'smtp://u%40a.b:p%40%3A%2F@mail.example.com:587',
        'smtp://[::1]:25',
      ].map((url) => [url, { mail: { url } }]),
    ),
    unfit: [
      'mail.example.com',
      'http://mail.example.com',
      'smtp:',
      'smtp://',
      'smtp://:25',
      'smtp://mail.example.com:0',
      'smtp://mail.example.com:65536',
      'smtp://mail.example.com/inbox',
      'smtp://mail.example.com?secure=false',
      'smtp://mail.example.com#',
      'smtp://u@mail.example.com',
      'smtp://:p@mail.example.com',
      'smtp://u:%zz@mail.example.com',
      'smtp://u%0D%0A:p@mail.example.com',
      'smtp://u:p%00@mail.example.com',
      'smtp://u:p/w@mail.example.com',
      'smtp://ma%20il.example.com',
      's\nmtp://mail.example.com',
    ],
  },
  MAIL_FROM: {
    fits: Object.fromEntries(
      [
        'auth@example.com',
        'Example <auth@example.com>',
        'Das Büro. Ja! <auth@example.com>',
        'tandem@localhost',
        'Tandem <tandem@localhost>',
      ].map((from) => [from, { mail: { from } }]),
    ),
    unfit: [
      'Example',
      '<auth@example.com>',
      'a@example.com, b@example.com',
      'Example, Inc. <auth@example.com>',
      'Example <auth@example.com> x',
      'Example <<auth@example.com>>',
      'Example<auth@example.com>',
      'a\r\nBcc: b@example.com <auth@example.com>',
      'Example <auth@exam\nple.com>',
      'Team: a <auth@example.com>',
      ' auth@example.com',
      'auth@',
      '@example.com',
      'auth@-example.com',
      `${'a'.repeat(101)} <auth@example.com>`,
      `auth@${'a.'.repeat(125)}com`,
    ],
  },
  ACCOUNT_PAGES_URL: {
    fits: {
      'http://localhost:3000/pages/': { accountPagesUrl: 'http://localhost:3000/pages', ownAccountPages: false },
      'https://app.example.com': { accountPagesUrl: 'https://app.example.com', ownAccountPages: false },
    },
    unfit: ['/account', 'app.example.com', 'ftp://example.com', 'https://a.example/#a', 'https://u:p@a.example'],
  },
  EMAIL_VERIFICATION: {
    fits: {
      off: { emailVerification: 'off' },
      optional: { emailVerification: 'optional' },
      required: { emailVerification: 'required' },
    },
    unfit: ['on', 'true', 'Required'],
  },
  SECOND_FACTOR: {
    fits: { optional: { secondFactor: 'optional' }, required: { secondFactor: 'required' } },
    unfit: ['off', 'true', 'Required'],
  },
  BRAND_NAME: {
    fits: {
      'Tom & Jerry': { brand: { name: 'Tom & Jerry' } },
      [`${'ü'.repeat(60)}`]: { brand: { name: 'ü'.repeat(60) } },
    },
    unfit: [' Acme', 'Acme ', 'a\nb', 'a\u202eb', 'x'.repeat(61)],
  },
  BRAND_LOGO_URL: {
    fits: {
      'https://cdn.example.com/logo.svg?v=1': { brand: { logoUrl: 'https://cdn.example.com/logo.svg?v=1' } },
      'http://localhost:5173/logo.png': { brand: { logoUrl: 'http://localhost:5173/logo.png' } },
    },
    unfit: [
      'logo.svg',
      'http://cdn.example.com/logo.svg',
      'https://u:p@cdn.example.com/logo.svg',
      'https://*.example.com/logo.svg',
      'https://cdn.example.com/a b.svg',
      'data:image/png;base64,AAAA',
      'javascript:alert(1)',
    ],
  },
  BRAND_COLOR: {
    fits: { '#14643A': { brand: { color: '#14643a' } } },
    unfit: ['14643a', '#123', 'red', '#14643a;', '#14643g', 'rgb(0,0,0)'],
  },
  DEFAULT_LOCALE: {
    fits: { DE: { defaultLocale: 'de' }, 'de-at': { defaultLocale: 'de-AT' } },
    unfit: ['de_AT', 'a b', '*', 'x'.repeat(36)],
  },
  MAIL_TEMPLATES: {
    fits: { '/etc/tandem/mail': { mailTemplates: '/etc/tandem/mail' } },
    unfit: ['~/mail', ' mail', 'ma\nil'],
  },
  FACTOR_KEYS: {
    fits: {
      [KEY_0]: { factorKeys: [Buffer.alloc(32, 0)] },
      [` ${KEY_1} , ${KEY_0}`]: { factorKeys: [Buffer.alloc(32, 1), Buffer.alloc(32, 0)] },
      [FACTOR_KEYS.slice(0, 10).join(',')]: {
        factorKeys: FACTOR_KEYS.slice(0, 10).map((_, index) => Buffer.alloc(32, index)),
      },
    },
    unfit: [
      'secret',
      ',',
      `${KEY_0},`,
      `${KEY_0}=`,
      `${KEY_0},secret`,
      `${KEY_0},${KEY_0}`,
      // The same bytes in another text, and 31 and 33 bytes.
      `${'A'.repeat(42)}B`,
      Buffer.alloc(31).toString('base64url'),
      Buffer.alloc(33).toString('base64url'),
      Buffer.alloc(32, 255).toString('base64'),
      Buffer.alloc(32).toString('hex'),
      FACTOR_KEYS.join(','),
    ],
  },
  EVENTS_RETENTION: { fits: { '90d': { eventsRetention: 7_776_000_000 } }, unfit: [...NO_DURATIONS, '0'] },
  MAIL_NOTICES: {
    fits: {
      off: { notices: new Set() },
      email: { notices: new Set(['email']) },
      ' replay , new-device': { notices: new Set(['new-device', 'replay']) },
    },
    unfit: ['on', ',', 'email,', 'email,off', 'Email', 'mail'],
  },
  LOG_LEVEL: {
    fits: { trace: { logLevel: 'trace' }, silent: { logLevel: 'silent' } },
    unfit: ['verbose', 'INFO', '30'],
  },
};

describe('a variable', () => {
  it('is in the table of forms, unless it is a key', () => {
    const others = CONFIG_VARIABLES.map(({ name }) => name).filter((name) => !(name in KEYS));
    expect(Object.keys(FORMS).sort()).toEqual(others.sort());
  });

  describe.each(Object.entries(FORMS))('%s', (name, { fits, unfit }) => {
    it.each(Object.entries(fits))('takes "%s"', (text, config) => {
      expect(parseConfig({ [name]: text })).toMatchObject(config);
    });

    it.each(unfit)('refuses "%s"', (text) => {
      expect(blamed({ [name]: text })).toEqual([name]);
    });
  });

  it('ALLOWED_ORIGINS_PROD counts in production, ALLOWED_ORIGINS_DEV elsewhere', () => {
    const both = { ALLOWED_ORIGINS_DEV: 'http://localhost:5173', ALLOWED_ORIGINS_PROD: 'https://app.example.com' };
    expect(parseConfig({ ...PRODUCTION, ...both })).toMatchObject({
      allowedOrigins: ['https://app.example.com'],
      allowedOriginsSetting: 'ALLOWED_ORIGINS_PROD',
    });
    expect(parseConfig(both).allowedOrigins).toEqual(['http://localhost:5173']);
    expect(parseConfig({ ...both, NODE_ENV: 'test' }).allowedOrigins).toEqual(['http://localhost:5173']);
  });
});

describe('variables that depend on each other', () => {
  it('a cookie for other sites needs Secure', () => {
    expect(blamed({ JWT_REFRESH_COOKIE_SAME_SITE: 'none' })).toEqual(['JWT_REFRESH_COOKIE_SECURE']);
    const { refreshCookie } = parseConfig({ JWT_REFRESH_COOKIE_SAME_SITE: 'none', JWT_REFRESH_COOKIE_SECURE: 'true' });
    expect(refreshCookie.sameSite).toBe('none');
  });

  it('the cookie of the access token needs a page that logs in, at an allowed origin', () => {
    const env = { ACCESS_COOKIE: 'true', ALLOWED_ORIGINS_DEV: 'https://app.example' };
    expect(blamed(env)).toEqual(['LOGIN_PAGE_URL']);
    expect(blamed({ ...env, LOGIN_PAGE_URL: 'https://other.example/log-in' })).toEqual(['LOGIN_PAGE_URL']);
    const { navigation, accessCookie } = parseConfig({ ...env, LOGIN_PAGE_URL: 'https://app.example/log-in' });
    expect(navigation?.targetOrigins).toEqual(expect.arrayContaining(['https://app.example', 'http://localhost:3000']));
    expect(accessCookie).toMatchObject({ name: 'access_token', path: '/', secure: false, maxAge: 900_000 });
  });

  it('an origin that may use passkeys is none that visitors are sent to', () => {
    const passkeys = 'https://passkeys.example';
    const env = { ACCESS_COOKIE: 'true', ALLOWED_ORIGINS_DEV: 'https://app.example', WEBAUTHN_ORIGINS: passkeys };
    expect(blamed({ ...env, LOGIN_PAGE_URL: `${passkeys}/log-in` })).toEqual(['LOGIN_PAGE_URL']);
    const invalid = { LOGIN_PAGE_URL: 'https://other.example/log-in', WEBAUTHN_ORIGINS: 'true' };
    expect(blamed({ ...env, ...invalid })).toEqual(['WEBAUTHN_ORIGINS', 'LOGIN_PAGE_URL']);
    const { navigation, webauthn } = parseConfig({ ...env, LOGIN_PAGE_URL: 'https://app.example/log-in' });
    expect(webauthn.origins).toContain(passkeys);
    expect(navigation?.targetOrigins).not.toContain(passkeys);
  });

  it('the cookie of the access token is not for a top-level domain', () => {
    const env = { BASE_URL: 'https://auth.example.org' };
    expect(blamed({ ...env, ACCESS_COOKIE_DOMAIN: 'org' })).toEqual(['ACCESS_COOKIE_DOMAIN']);
    expect(blamed({ ...env, ACCESS_COOKIE_DOMAIN: 'example.org' })).toEqual([]);
  });

  it('what sends visitors of rendered pages to the page that logs in is worth a warning', () => {
    const env = { JWT_REFRESH_COOKIE_SAME_SITE: 'strict', JWT_REFRESH_RACE_WINDOW: '0' };
    expect(parseConfig(env).warnings).toEqual([]);
    const { warnings } = parseConfig({ ...env, ACCESS_COOKIE: 'true', LOGIN_PAGE_URL: 'http://localhost:3000/log-in' });
    expect(warnings).toEqual([
      expect.stringContaining('JWT_REFRESH_COOKIE_SAME_SITE'),
      expect.stringContaining('JWT_REFRESH_RACE_WINDOW'),
      expect.stringContaining('JWT_REFRESH_REPLAY_WINDOW'),
    ]);
  });

  it('pages that get no cookie of the access token are worth a warning', () => {
    const env = {
      ...{
        BASE_URL: 'https://auth.example.org',
        ALLOWED_ORIGINS_DEV: 'https://app.example.org',
        ACCESS_COOKIE: 'true',
      },
      ...{ LOGIN_PAGE_URL: 'https://app.example.org/log-in', JWT_REFRESH_REPLAY_WINDOW: '10s' },
    };
    const about = (more: object) => parseConfig({ ...env, ...more }).warnings.filter((line) => /LOGIN_PAGE/.test(line));
    expect(about({})).toEqual([expect.stringContaining('ACCESS_COOKIE_DOMAIN')]);
    expect(about({ ACCESS_COOKIE_DOMAIN: 'example.org' })).toEqual([]);
    expect(about({ LOGIN_PAGE_URL: 'https://auth.example.org/log-in' })).toEqual([]);
  });

  it('what has no effect for pages that a server renders is worth a warning', () => {
    const { warnings } = parseConfig({
      ACCESS_COOKIE_DOMAIN: 'localhost',
      LOGIN_PAGE_URL: 'http://localhost:3000/log-in',
      PAGE_SERVERS: `pages:${KEY_0}`,
    });
    expect(warnings).toEqual([
      expect.stringContaining('ACCESS_COOKIE_DOMAIN'),
      expect.stringContaining('LOGIN_PAGE_URL'),
      expect.stringContaining('PAGE_SERVERS'),
    ]);
  });

  it('a cookie that ends before its token is worth a warning', () => {
    const { warnings } = parseConfig({ JWT_REFRESH_EXPIRES_IN: '30d' });
    expect(warnings).toEqual([expect.stringContaining('JWT_REFRESH_COOKIE_MAX_AGE_MS')]);
  });
});

describe('production', () => {
  it.each([
    ['an insecure cookie', { JWT_REFRESH_COOKIE_SECURE: 'false' }, ['JWT_REFRESH_COOKIE_SECURE']],
    ['a cookie that nobody made secure', { JWT_REFRESH_COOKIE_SECURE: undefined }, ['JWT_REFRESH_COOKIE_SECURE']],
    ['a hash that is cheaper than SPEC says', { BCRYPT_COST: '9' }, ['BCRYPT_COST']],
    ['every origin', { ALLOWED_ORIGINS_PROD: '*' }, ['ALLOWED_ORIGINS_PROD']],
    ['what is no origin', { ALLOWED_ORIGINS_PROD: 'https://a.example/' }, ['ALLOWED_ORIGINS_PROD']],
    ...Object.keys(KEYS).map((name) => [`to be without ${name}`, { [name]: undefined }, [name]] as const),
    ['to be without keys', Object.fromEntries(Object.keys(KEYS).map((name) => [name, ''])), Object.keys(KEYS)],
  ] as const)('refuses %s', (_what, changes, names) => {
    expect(blamed({ ...PRODUCTION, ...changes })).toEqual(names);
  });

  it('allows a file of SQLite, no base URL and no mail, with a warning for each', () => {
    const config = parseConfig({ ...PRODUCTION, DATABASE_URL: '', BASE_URL: '', MAIL_URL: '' });
    expect(config.database).toEqual(DEFAULT_FILE);
    expect(config.databaseWarnings).toEqual([expect.stringContaining('one process')]);
    expect(config.warnings).toEqual([expect.stringContaining('BASE_URL'), expect.stringContaining('MAIL_URL')]);
  });

  it('has no mail, and so no verification, without a mail server', () => {
    const env = { ...PRODUCTION, MAIL_URL: '' };
    expect(parseConfig(env)).toMatchObject({ mail: null, emailVerification: 'off' });
    expect(parseConfig({ ...env, EMAIL_VERIFICATION: 'off' }).emailVerification).toBe('off');
    expect(blamed({ ...env, EMAIL_VERIFICATION: 'optional' })).toEqual(['EMAIL_VERIFICATION']);
    expect(blamed({ ...env, EMAIL_VERIFICATION: 'required' })).toEqual(['EMAIL_VERIFICATION']);
  });

  it('has no second factor that is required without FACTOR_KEYS', () => {
    const env = { ...PRODUCTION, SECOND_FACTOR: 'required' };
    expect(parseConfig({ ...env, FACTOR_KEYS: KEY_0 }).secondFactor).toBe('required');
    expect(blamed({ ...env, FACTOR_KEYS: undefined })).toEqual(['SECOND_FACTOR']);
  });

  it('has mail with a mail server, and needs a sender and an address for its links', () => {
    const mail = { url: 'smtps://tandem:p@mail.example.com', from: 'auth@example.com' };
    expect(parseConfig(PRODUCTION)).toMatchObject({ mail, emailVerification: 'optional' });
    expect(blamed({ ...PRODUCTION, MAIL_FROM: '' })).toEqual(['MAIL_FROM']);
    expect(blamed({ ...PRODUCTION, BASE_URL: '' })).toEqual(['BASE_URL']);
    expect(blamed({ ...PRODUCTION, MAIL_URL: 'unfit', MAIL_FROM: '', BASE_URL: '' })).toEqual(['MAIL_URL']);
  });

  it.each([
    ['smtp://mail.example.com', true],
    ['smtp://u:p@mail.example.com:587', true],
    ['smtp://10.0.0.7', true],
    ['smtp://[2001:db8::1]:25', true],
    ['smtp://mailpit:1025', true],
    ['smtp://localhost:1025', false],
    ['smtp://127.0.0.1', false],
    ['smtp://[::1]', false],
  ])('sends nothing unencrypted to another machine, unless it is allowed: %s', (url, requireTls) => {
    expect(parseConfig({ ...PRODUCTION, MAIL_URL: url }).mail?.requireTls).toBe(requireTls);
    expect(parseConfig({ MAIL_URL: url }).mail?.requireTls).toBe(requireTls);
    expect(parseConfig({ MAIL_URL: `${url}?requireTLS=false` }).mail).toMatchObject({ url, requireTls: false });
  });

  it('has its own pages below BASE_URL, unless there are others', () => {
    const base = { ...PRODUCTION, BASE_URL: 'https://example.com/api/' };
    expect(parseConfig(base)).toMatchObject({
      accountPagesUrl: 'https://example.com/api/account',
      ownAccountPages: true,
    });
    expect(parseConfig({ ...base, ACCOUNT_PAGES_URL: 'https://app.example.com/me/' })).toMatchObject({
      accountPagesUrl: 'https://app.example.com/me',
      ownAccountPages: false,
    });
  });
});

describe('the keys', () => {
  const escaped = (text: string) => text.replaceAll('\n', '\\n');
  const p384 = pair('P-384');
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const other = pair();
  const parameters = '-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n';

  it.each([
    ['with real line breaks', {}],
    ['with escaped line breaks', Object.fromEntries(Object.entries(KEYS).map(([name, text]) => [name, escaped(text)]))],
    ['with Windows line breaks', { JWT_ACCESS_PRIVATE_KEY: KEYS.JWT_ACCESS_PRIVATE_KEY.replaceAll('\n', '\r\n') }],
    ['in SEC1', { JWT_ACCESS_PRIVATE_KEY: sec1(access.privateKey), JWT_REFRESH_PRIVATE_KEY: sec1(refresh.privateKey) }],
    ['in SEC1 behind their curve', { JWT_ACCESS_PRIVATE_KEY: parameters + sec1(access.privateKey) }],
  ])('are read %s', (_how, changes) => {
    const { keys } = parseConfig({ ...KEYS, ...changes });
    expect(keys?.access.privateKey.equals(access.privateKey)).toBe(true);
    expect(keys?.access.publicKeys.map((key) => key.equals(access.publicKey))).toEqual([true]);
    expect(keys?.refresh.privateKey.equals(refresh.privateKey)).toBe(true);
    expect(keys?.refresh.publicKeys.map((key) => key.equals(refresh.publicKey))).toEqual([true]);
  });

  it.each([
    ['real', (text: string) => text],
    ['escaped', escaped],
  ])('may be several public ones, in their order, with %s line breaks', (_how, write) => {
    const several = write(spki(access.publicKey) + spki(other.publicKey));
    const { keys } = parseConfig({ ...KEYS, JWT_ACCESS_PUBLIC_KEY: several });
    expect(keys?.access.publicKeys.map(spki)).toEqual([access.publicKey, other.publicKey].map(spki));
  });

  describe.each(['development', 'test', 'production'])('in %s', (environment) => {
    const refuses = (changes: Env) => blamed({ ...PRODUCTION, NODE_ENV: environment, ...changes });
    const truncated = KEYS.JWT_ACCESS_PRIVATE_KEY.slice(0, 100);
    const encrypted = access.privateKey
      .export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' })
      .toString();

    it.each([
      ['a private key that is none', 'JWT_ACCESS_PRIVATE_KEY', 'secret'],
      ['a private key cut short', 'JWT_ACCESS_PRIVATE_KEY', truncated],
      ['an encrypted private key', 'JWT_ACCESS_PRIVATE_KEY', encrypted],
      ['two private keys', 'JWT_ACCESS_PRIVATE_KEY', pkcs8(access.privateKey) + pkcs8(other.privateKey)],
      ['a public key as the private one', 'JWT_ACCESS_PRIVATE_KEY', spki(access.publicKey)],
      ['a private key on P-384', 'JWT_ACCESS_PRIVATE_KEY', pkcs8(p384.privateKey)],
      ['a private RSA key', 'JWT_ACCESS_PRIVATE_KEY', pkcs8(rsa.privateKey)],
      ['a public key that is none', 'JWT_REFRESH_PUBLIC_KEY', 'secret'],
      ['a private key as the public one', 'JWT_REFRESH_PUBLIC_KEY', pkcs8(refresh.privateKey)],
      ['a public key on P-384', 'JWT_REFRESH_PUBLIC_KEY', spki(p384.publicKey)],
      ['a public RSA key', 'JWT_REFRESH_PUBLIC_KEY', spki(rsa.publicKey)],
      ['a second public key on P-384', 'JWT_REFRESH_PUBLIC_KEY', spki(refresh.publicKey) + spki(p384.publicKey)],
      ['a second public key cut short', 'JWT_REFRESH_PUBLIC_KEY', spki(refresh.publicKey) + truncated],
      ['a public key of another pair', 'JWT_REFRESH_PUBLIC_KEY', spki(other.publicKey)],
      [
        'the current public key in second place',
        'JWT_REFRESH_PUBLIC_KEY',
        spki(other.publicKey) + spki(refresh.publicKey),
      ],
    ])('%s is refused', (_what, name, text) => {
      expect(refuses({ [name]: text })).toEqual([name]);
    });

    it('swapped halves are refused', () => {
      expect(
        refuses({
          JWT_ACCESS_PUBLIC_KEY: KEYS.JWT_REFRESH_PUBLIC_KEY,
          JWT_REFRESH_PUBLIC_KEY: KEYS.JWT_ACCESS_PUBLIC_KEY,
        }),
      ).toEqual(['JWT_ACCESS_PUBLIC_KEY', 'JWT_REFRESH_PUBLIC_KEY']);
    });

    it('one pair for both tokens is refused', () => {
      expect(
        refuses({
          JWT_REFRESH_PRIVATE_KEY: KEYS.JWT_ACCESS_PRIVATE_KEY,
          JWT_REFRESH_PUBLIC_KEY: KEYS.JWT_ACCESS_PUBLIC_KEY,
        }),
      ).toEqual(['JWT_REFRESH_PUBLIC_KEY']);
    });

    it('a retired public key of the other token is refused', () => {
      expect(refuses({ JWT_REFRESH_PUBLIC_KEY: spki(refresh.publicKey) + spki(access.publicKey) })).toEqual([
        'JWT_REFRESH_PUBLIC_KEY',
      ]);
    });

    it('three of four are refused', () => {
      for (const name of Object.keys(KEYS)) expect(refuses({ [name]: undefined })).toEqual([name]);
    });
  });
});

describe('the error', () => {
  it('reports every problem at once, a line each', () => {
    const unfit = Object.entries(FORMS).filter(([name]) => name !== 'NODE_ENV');
    const env = Object.fromEntries(unfit.map(([name, form]) => [name, form.unfit[0]]));
    const broken = { ...env, ...Object.fromEntries(Object.keys(KEYS).map((name) => [name, 'none'])) };
    const expected = CONFIG_VARIABLES.map(({ name }) => name).filter((name) => name !== 'NODE_ENV');
    expect(blamed({ ...broken, NODE_ENV: 'production' }).sort()).toEqual(expected.sort());
    expect(() => parseConfig(broken)).toThrow(new RegExp(`^${'.+\\n'.repeat(expected.length)}.+$`));
  });

  it('says what is valid', () => {
    expect(problemsOf({ PORT: 'http' })).toEqual(['PORT: expected a whole number from 0 to 65535']);
  });

  const MARKER = 'marker0secret';
  const shapes = [
    MARKER,
    `https://u:${MARKER}@x y`,
    `{"warn":"${MARKER}"}`,
    `${MARKER}/60`,
    `-----BEGIN PRIVATE KEY-----\n${MARKER}\n-----END PRIVATE KEY-----`,
    `-----BEGIN PUBLIC KEY-----\n${MARKER}\n-----END PUBLIC KEY-----`,
  ];
  it.each(CONFIG_VARIABLES.map(({ name }) => name))('never shows the value of %s', (name) => {
    for (const NODE_ENV of ['development', 'production'])
      for (const shape of shapes) {
        const env = { NODE_ENV, PORT: 'broken', [name]: shape };
        const error = thrownBy(() => parseConfig(env));
        expect(error).toBeInstanceOf(ConfigError);
        expect(`${error.stack}${JSON.stringify(error)}`).not.toContain(MARKER);
        expect(error.cause).toBeUndefined();
      }
  });

  it('never shows a password in a URL that fits', () => {
    const error = thrownBy(() =>
      parseConfig({ DATABASE_URL: `postgres://u:${MARKER}@db/x`, REDIS_URL: `redis://:${MARKER}@r`, PORT: 'broken' }),
    );
    expect(String(error.stack)).not.toContain(MARKER);
  });
});

const thrownBy = (action: () => unknown): Error => {
  try {
    action();
  } catch (error) {
    if (error instanceof Error) return error;
  }
  throw new Error('nothing was thrown');
};

describe('.env.example', () => {
  const text = readFileSync(new URL('../../.env.example', import.meta.url), 'utf8');

  it('is what `npm run docs` writes', () => {
    expect(text).toBe(envExample());
  });

  it('sets nothing as it is', () => {
    expect(parseEnv(text)).toEqual({});
  });

  it('comes to what development does anyway when every line is uncommented', () => {
    const env = parseEnv(text.replaceAll(/^#(?=\w+=)/gm, ''));
    expect(Object.keys(env).sort()).toEqual(CONFIG_VARIABLES.map(({ name }) => name).sort());
    expect(parseConfig(env)).toEqual(parseConfig({}));
  });
});
