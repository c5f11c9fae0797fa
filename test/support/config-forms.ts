import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import ipaddr from 'ipaddr.js';
import { expect } from 'vitest';
import { privatePem } from '../../src/infrastructure/keys.ts';

/** One key more than is allowed. */
const FACTOR_KEYS = Array.from({ length: 11 }, (_, index) => Buffer.alloc(32, index).toString('base64url'));
const [KEY_0 = '', KEY_1 = ''] = FACTOR_KEYS;
const KEYS = [0, 1].map((byte) => Buffer.alloc(32, byte));
export const DEFAULT_FILE = { kind: 'sqlite', path: '.data/database.sqlite', synchronous: 'normal', tablePrefix: '' };

const NETWORKS = ['10.1.0.0/16', '::1/128'];

const HOOK_KEY = generateKeyPairSync('ed25519').privateKey;
const IS_HOOK_KEY = expect.toSatisfy((key) => HOOK_KEY.equals(key));
const OTHER_CURVE = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
const publicPem = (key: KeyObject) => createPublicKey(key).export({ type: 'spki', format: 'pem' }).toString();
const IS_PUBLIC_KEY = expect.toSatisfy((key) =>
  [HOOK_KEY, OTHER_CURVE].some((own) => createPublicKey(own).equals(key)),
);

const TWO_KEYS = `${publicPem(HOOK_KEY)}${publicPem(OTHER_CURVE)}`.replaceAll('\n', '\\n');

const operator = (given: object = {}) => ({
  ...{ name: 'support', scopes: ['users:read', 'users:write'], publicKey: publicPem(OTHER_CURVE) },
  ...given,
});

/** `window` is in milliseconds. */
const STRICT = { requests: 7, window: 30_000 };
const ANDROID = `android:apk-key-hash:${KEY_1}`;
const CERTIFICATE = Array(32).fill('01').join(':');
const SENTINELS = (hosts: string) =>
  `rediss+sentinel://u:p%2C@${hosts}/main-1/2?family=4&sentinel_username=u&sentinel_password=p`;

/**
 * Accepted texts of variables, each with its settings. Plain texts are missing, with which other tests start services, and so is JWT_REFRESH_COOKIE_PREFIX,
 * which needs another variable (config/refusals.test.ts).
 */
export const ACCEPTED: readonly (readonly [name: string, text: string, config: object])[] = [
  ['HOST', '::1', { host: '::1' }],
  ['PORT', '65535', { port: 65_535, baseUrl: 'http://localhost:65535' }],
  ['BASE_URL', 'https://example.com//a//b//', { baseUrl: 'https://example.com//a//b' }],
  ['ALLOWED_ORIGINS_DEV', ' https://a.b , http://[::1]:81', { allowedOrigins: ['https://a.b', 'http://[::1]:81'] }],
  ['ALLOWED_ORIGINS_DEV', 'tauri://localhost, ionic://localhost:8080', { application: null }],
  ['ALLOWED_ORIGINS_DEV', 'chrome-extension://abcdef,app://-,app://.,app://obsidian.md', { application: null }],
  ['ALLOWED_ORIGINS_DEV', 'capacitor://localhost,https://a.example', { application: 'https://a.example' }],
  [
    'APP_LINKS',
    'https://a.b/x, com.a.b:/x,com.a.b://x/y',
    { appLinks: ['https://a.b/x', 'com.a.b:/x', 'com.a.b://x/y'] },
  ],
  [
    'NATIVE_APPS',
    `android:com.a.b:${CERTIFICATE}, apple:ABCDE12345.com.a.b`,
    { webauthn: { origins: expect.arrayContaining([ANDROID]) } },
  ],
  ['WEBAUTHN_ORIGINS', `${ANDROID}, https://a.b`, { webauthn: { origins: expect.arrayContaining([ANDROID]) } }],
  ['PASSKEYS_PAGE_URL', 'https://app.example/me?tab=keys', { passkeysPageUrl: 'https://app.example/me?tab=keys' }],
  ['ALLOWED_HEADERS', 'traceparent, baggage,x', { allowedHeaders: ['traceparent', 'baggage', 'x'] }],
  ['REQUEST_TIMEOUT_MS', '2147483647', { requestTimeoutMs: 2_147_483_647 }],
  ['SHUTDOWN_DELAY', '1m', { shutdownDelay: 60_000 }],
  ['SLOW_REQUEST_THRESHOLDS', '{"warn":5,"error":5}', { slowRequestThresholds: { warn: 5, error: 5 } }],
  ['RATE_LIMITS', 'strict=7/30, global=off', { rateLimits: { global: null, strict: STRICT, public: null } }],
  ['WORKERS', '1', { workers: 1 }],
  ['ADMIN_PORT', 'off', { admin: null }],
  ['ADMIN_PORT', '9470', { admin: { host: '127.0.0.1', port: 9_470, url: 'http://127.0.0.1:9470', proxy: null } }],
  ['ADMIN_HOST', '::', { admin: null }],
  ['ADMIN_URL', 'https://office.example.com/a/', { admin: null }],
  ['RESET_LINK_HAND_OVER', 'on', { resetLinkHandOver: 'on' }],
  [
    'ADMIN_USERS',
    'roles:operator, team:a.b=users:read',
    {
      adminUsers: [
        { attribute: 'roles', value: 'operator', scopes: ['users:read', 'users:write'] },
        { attribute: 'team', value: 'a.b', scopes: ['users:read'] },
      ],
    },
  ],
  ['METRICS', '[::1]:9464', { metrics: { host: '::1', port: 9464 } }],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'http://otel:4318/', { tracing: { endpoint: 'http://otel:4318' } }],
  ['OTEL_EXPORTER_OTLP_PROTOCOL', 'http/protobuf', { tracing: { protocol: 'http/protobuf' } }],
  ['OTEL_TRACES_SAMPLER', 'parentbased_always_on', { tracing: { ratio: 1, followsCaller: true } }],
  ['OTEL_TRACES_SAMPLER_ARG', '0.05', { tracing: { ratio: 1 } }],
  ['DATABASE_URL', 'postgresql://u:p@/db?host=/s', { database: { url: 'postgresql://u:p@localhost/db?host=/s' } }],
  ['DATABASE_URL', 'postgres:///x?ssl=1&host=/run', { database: { url: 'postgres://localhost/x?ssl=1&host=/run' } }],
  ...[
    'postgresql:///x?host=/s&port=6432&user=u&password=p&application_name=x&options=-csearch_path%3Dauth&lock_timeout=1s',
    'postgres://db/x?ssl=true&sslmode=verify-full&sslrootcert=/a&sslcert=/b&sslkey=/c&sslnegotiation=direct',
    'postgres://db/x?uselibpqcompat=true&sslmode=require',
  ].map((url) => ['DATABASE_URL', url, { database: { kind: 'postgresql' } }] as const),
  ['DATABASE_URL', 'mariadb://db/x?ssl=true', { database: { kind: 'mariadb', url: 'mariadb://db/x?ssl=true' } }],
  [
    'DATABASE_URL',
    'mysql://u:p%2C@a:3307,b, [::1]:3306/x',
    { database: { url: 'mysql://u:p%2C@a:3307/x', others: ['mysql://u:p%2C@b/x', 'mysql://u:p%2C@[::1]:3306/x'] } },
  ],
  // A comma in a password does not separate two servers.
  ['DATABASE_URL', 'mysql://u:p@a,b@host/x', { database: { url: 'mysql://u:p@a,b@host/x' } }],
  ['DATABASE_URL', 'sqlite:/x.sqlite?synchronous=full', { database: { path: '/x.sqlite', synchronous: 'full' } }],
  ['DATABASE_URL', 'sqlite:///var/lib/x y.sqlite', { database: { path: '/var/lib/x y.sqlite' } }],
  ['DATABASE_TABLE_PREFIX', 'auth_', { database: { tablePrefix: 'auth_' } }],
  ['MIGRATE_ON_START', 'false', { migrateOnStart: false }],
  ['REDIS_URL', 'rediss://u:p@r:6380/1', { redisUrl: ['rediss://u:p@r:6380/1'] }],
  ['REDIS_URL', 'redis://:p@a:1, redis://:p@b:2/', { redisUrl: ['redis://:p@a:1', 'redis://:p@b:2/'] }],
  ['REDIS_URL', SENTINELS('a:1, [::1]:2,c'), { redisUrl: ['a:1', '[::1]:2', 'c'].map(SENTINELS) }],
  ['PASSWORD_HASH', 'argon2id', { passwordHash: 'argon2id', passwordLimits: { minLength: 8, maxBytes: 1_024 } }],
  ['PASSWORD_MIN_LENGTH', '15', { passwordLimits: { minLength: 15, maxBytes: 72 } }],
  ['LEAKED_PASSWORDS_FILE', '/srv/leaked', { leakedPasswordsFile: '/srv/leaked' }],
  ['LEAKED_PASSWORDS_URL', 'https://pwned.example/range/', { leakedPasswordsUrl: 'https://pwned.example/range' }],
  ['BCRYPT_COST', '15', { bcryptCost: 15 }],
  ['JWT_REFRESH_EXPIRES_IN', '3650d', { jwtRefreshExpiresIn: 315_360_000_000, jwtAccessExpiresIn: 900_000 }],
  // Unset durations adapt to a short lifetime.
  ['JWT_REFRESH_EXPIRES_IN', '5s', { jwtAccessExpiresIn: 5_000, jwtRefreshRaceWindow: 500 }],
  ['SESSION_MAX_LIFETIME', '12h', { sessionMaxLifetime: 43_200_000 }],
  ['JWT_SESSION_CLAIM', 'true', { jwtSessionClaim: true }],
  ['JWT_REFRESH_REPLAY_WINDOW', '5s', { jwtRefreshReplayWindow: 5_000 }],
  ['CLEAR_SITE_DATA', 'storage, cache', { clearSiteData: ['cache', 'storage'] }],
  ['JWT_REFRESH_COOKIE_PATH', '/api/auth', { refreshCookie: { path: '/api/auth' } }],
  ['JWT_REFRESH_COOKIE_MAX_AGE_MS', '1000', { refreshCookie: { maxAge: 1_000 } }],
  ['ACCESS_COOKIE_DOMAIN', 'localhost', { accessCookie: null }],
  ['LOGIN_PAGE_URL', 'http://localhost:3000/log-in?from=pages', { navigation: null }],
  ['PAGE_SERVERS', `a:${KEY_0}, a:${KEY_1}`, { pageServers: KEYS.map((secretHash) => ({ id: 'a', secretHash })) }],
  ['MAIL_URL', 'https://mail.example.com/send', { mail: { url: 'https://mail.example.com/send' } }],
  ['MAIL_OAUTH', 'https://id:s%40@login.example/t/token?scope=a%20b&refresh_token=r', {}],
  ['MAIL_URL', 'smtps://mail.example.com/', { mail: { url: 'smtps://mail.example.com/' } }],
  ['MAIL_URL', 'smtp://u%40a.b:p%40%3A%2F@m.example:587', { mail: { url: 'smtp://u%40a.b:p%40%3A%2F@m.example:587' } }],
  ['MAIL_FROM', 'Das Büro. Ja! <auth@example.com>', { mail: { from: 'Das Büro. Ja! <auth@example.com>' } }],
  ['BRAND_FONT', 'Inter, sans-serif', { brand: { font: 'Inter, sans-serif' } }],
  ['BRAND_RADIUS', '0', { brand: { radius: 0 } }],
  ['BRAND_BACKGROUND', '#F0F0F0', { brand: { background: '#f0f0f0' } }],
  ['ACCOUNT_PAGES_URL', 'http://a.b:3000/x/', { accountPagesUrl: 'http://a.b:3000/x', ownAccountPages: false }],
  ['REGISTRATION_DOMAINS', '.Edu,bücher.de', { registration: { mode: 'open', domains: ['.edu', 'xn--bcher-kva.de'] } }],
  // In the form of the service's own file, and as a line of an environment file.
  ['HOOK_PRIVATE_KEY', `${privatePem(HOOK_KEY)}whpk_x\n`, { hookPrivateKey: IS_HOOK_KEY }],
  ['HOOK_PRIVATE_KEY', privatePem(HOOK_KEY).replaceAll('\n', '\\n'), { hookPrivateKey: IS_HOOK_KEY }],
  [
    'WEBHOOK_ALLOWED_NETWORKS',
    NETWORKS.join(),
    { webhookAllowedNetworks: NETWORKS.map((each) => ipaddr.parseCIDR(each)) },
  ],
  ['ADOPTION_PUBLIC_KEY', publicPem(OTHER_CURVE), { adoption: { publicKey: [IS_PUBLIC_KEY], ends: null } }],
  ['ADOPTION_PUBLIC_KEY', TWO_KEYS, { adoption: { publicKey: [IS_PUBLIC_KEY, IS_PUBLIC_KEY] } }],
  ['ADOPTION_ENDS', '2026-01-31T12:00+02:00', { adoption: null }],
  ['VERIFY_PASSWORDS_AT', 'https://a.b/x', { verifyPasswords: { at: 'https://a.b/x', until: null } }],
  ['VERIFY_PASSWORDS_UNTIL', '2026-01-31', { verifyPasswords: null }],
  ['NEW_DEVICE_CODE', 'while-mail-works', { newDeviceCode: 'while-mail-works' }],
  ['PASSWORDS', 'required', { passwords: 'required' }],
  ['MAIL_NOTICES', 'off', { mailNotices: new Set() }],
  ['MAIL_NOTICES', ' replay , new-device', { mailNotices: new Set(['new-device', 'replay']) }],
  ['FACTOR_KEYS', ` ${KEY_1} , ${KEY_0}`, { factorKeys: [Buffer.alloc(32, 1), Buffer.alloc(32, 0)] }],
  ['FACTOR_KEYS', FACTOR_KEYS.slice(0, 10).join(), { factorKeys: expect.objectContaining({ length: 10 }) }],
  ['EVENTS_RETENTION', '90d', { eventsRetention: 7_776_000_000 }],
  ['BRAND_NAME', 'ü'.repeat(60), { brand: { name: 'ü'.repeat(60) } }],
  ['BRAND_LOGO_URL', 'https://cdn.a.b/logo.svg?v=1', { brand: { logoUrl: 'https://cdn.a.b/logo.svg?v=1' } }],
  ['BRAND_LOGO_DARK_URL', 'https://cdn.a.b/dark.svg', { brand: { logoDarkUrl: 'https://cdn.a.b/dark.svg' } }],
  ['BRAND_ICON_URL', 'https://cdn.a.b/icon.png', { brand: { iconUrl: 'https://cdn.a.b/icon.png' } }],
  ['BRAND_TERMS_URL', 'https://a.b/terms', { brand: { termsUrl: 'https://a.b/terms' } }],
  ['BRAND_PRIVACY_URL', 'https://a.b/privacy', { brand: { privacyUrl: 'https://a.b/privacy' } }],
  ['BRAND_SUPPORT_URL', 'mailto:help@a.b', { brand: { supportUrl: 'mailto:help@a.b' } }],
  ['BRAND_COLOR', '#14643A', { brand: { color: '#14643a' } }],
  ['DEFAULT_LOCALE', 'de-at', { defaultLocale: 'de-AT' }],
];

const NO_ORIGINS =
  "*|null|https://*.example.com|https://a.example/|https://a.example/path|https://a.example:443|HTTPS://a.example|https://A.example|https://u@a.example|a.example|ws://a.example|file:///x|file://|file://localhost|android://a|data://a|javascript://a|capacitor:localhost|capacitor://|capacitor://*|capacitor://localhost/|capacitor://localhost:0|Capacitor://localhost|capacitor://u@localhost|app://-;script-src'*'|https://a.example,*|https://a.example https://b.example";
const NO_DURATIONS = '15|15 m| 15m|15M|1w|10ms|1.5h|-1s|+1s|0s|01s|1m30s|3651d|9999999999d|१s|1e3s|soon';
const NO_DATES = 'never|2027|2027-1-31|31.01.2027|2026-02-30|2026-13-01|2026-01-31T12:00|2026-01-31T25:00Z|1767225600';
const NO_WINDOWS = `${NO_DURATIONS}|301s|6m|7d|3650d`;
const NO_FLAGS = 'yes|1|TRUE| true|on';
const NOT_CONFIGURED = `two words|ü|1:no-uri|${'a'.repeat(201)}|a\0`;
const NO_LIMITS = '100|100/|0/60|100/0|100/60s|1.5/60|100/90000|OFF|-1/60'.split('|');
const many = (item: (at: number) => string): string => Array.from({ length: 51 }, (_, at) => item(at)).join(',');

/** Refused texts of each variable, separated by `|`. */
export const REFUSED: Readonly<Record<string, string>> = {
  NODE_ENV: 'prod|Production| test',
  HOST: 'http://localhost|a b|127.0.0.1:3000|-',
  PORT: '65536|-1|3000.5|0x10|1e3| 80|080|http',
  BASE_URL:
    'example.com|ftp://example.com|https://|https://u:p@example.com|https://example.com?|https://example.com/#a|https://*.example.com|https://exam\nple.com|https://example.com/a,b|https://example.com/a;Domain=example.net',
  ALLOWED_ORIGINS_DEV: NO_ORIGINS,
  ALLOWED_ORIGINS_PROD: NO_ORIGINS,
  APP_LINKS: `http://app.example/|http://127.0.0.1/|javascript:/1|data:/1|file:///x|app:/signed-in|com.example.app|com.example.app:signed-in|com.example.app:/a?b|com.example.app:/a#b|Com.example.app:/a|com.example.app:/*|https://app.example|https://u@app.example/|https://*.app.example/|https://app.example:443/|https://app.example/a/../b|https://app.example/ä|${many((at) => `com.example.a${at}:/`)}`,
  NATIVE_APPS: `com.a.b|android:com.a.b|android:a:${CERTIFICATE}|android:com.a.b:${CERTIFICATE.replace('01', 'a1')}|android:com.a.b:${CERTIFICATE}:01|apple:com.a.b|apple:ABCDE12345|apple:ABCDE12345.*|${many((at) => `apple:ABCDE12345.a${at}`)}`,
  WEBAUTHN_ORIGINS: `*|null|android:apk-key-hash:|android:apk-key-hash:${KEY_1}=|ios:bundle-id:org.example.app|https://app.example/|${many((at) => `https://a${at}.example`)}`,
  WEBAUTHN_RP_ID: 'https://example.com|Example.com|example.com:443|127.0.0.1|example..com|*.example.com|evil.test',
  PASSKEYS_PAGE_URL: 'app.example/me|/me|https://u:p@app.example/|https://app.example/#keys|javascript:1',
  ALLOWED_HEADERS: `*|a b|a:b|a\r\nb|ä|${'x'.repeat(101)}|${many((at) => `x${at}`)}`,
  TRUST_PROXY: '-1|1.5|true|101',
  REQUEST_TIMEOUT_MS: '0|2147483648|30s|-1',
  SHUTDOWN_DELAY: '5|61s|-1s|off',
  SLOW_REQUEST_THRESHOLDS:
    '1000|{|null|[1,2]|{"warn":1}|{"warn":2,"error":1}|{"warn":-1,"error":1}|{"warn":1,"error":1e999}|{"warn":"1","error":"2"}|{"warn":1,"error":2,"fatal":3}',
  RATE_LIMITS: [
    ...NO_LIMITS.flatMap((limit) => [limit, `global=7/30,strict=${limit},public=off`]),
    '7/30|global=7/30,|other=7/30|global=7/30,strict=7/30,public=7/30,other=7/30|strict=7/30,strict=7/30',
  ].join('|'),
  LOG_LEVEL: 'verbose|INFO|30',
  WORKERS: '0|257|auto|1.5',
  ADMIN_PORT: 'on|0|65536|127.0.0.1:9470|09470',
  ADMIN_HOST: 'a b|a,b|-',
  ADMIN_URL: 'office.example.com|ftp://a.b|https://u:p@a.b|https://a.b?q',
  ADMIN_KEYS: [
    '{}|[]|[{}]|not JSON',
    ...[
      [operator({ name: '' })],
      [operator({ name: 'support (page) ' })],
      [operator({ scopes: [] })],
      [operator({ scopes: ['users:all'] })],
      [operator({ more: 1 })],
      [operator({ publicKey: privatePem(OTHER_CURVE) })],
      [operator({ publicKey: publicPem(generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey) })],
      [operator({ publicKey: publicPem(HOOK_KEY) })],
      [operator(), operator({ name: 'billing' })],
      [operator(), operator({ publicKey: publicPem(generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey) })],
    ].map((keys) => JSON.stringify(keys)),
  ].join('|'),
  ADMIN_USERS: 'roles|roles:|:operator|roles:a b|roles:a=users:write|roles:a=b|roles:a,|1:a',
  RESET_LINK_HAND_OVER: 'true|On|mailed',
  ADMIN_IDENTITY_HEADER: 'a b|a:|Cookie|Authorization|Tandem-Proxy-Secret',
  ADMIN_PROXY_SECRET: `short|${'a'.repeat(31)}|${'a'.repeat(257)}|${'a b'.repeat(20)}`,
  METRICS: 'on|0|65536|localhost|db.example:9464|:9464|3000|::1:9464|[::1:9464|[::1]9464',
  OTEL_EXPORTER_OTLP_ENDPOINT: 'otel:4318|grpc://otel:4317|http://u:p@otel:4318|http://otel:4318/?a=b|off',
  OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc|json|HTTP/JSON',
  OTEL_TRACES_SAMPLER: 'on|ALWAYS_ON|jaeger_remote|0.5',
  OTEL_TRACES_SAMPLER_ARG: '-0.1|1.1|2|5%|1e-3|NaN|,5',
  DATA_DIR: 'a\0b|a\nb|~/data| |.data |\u00a0data',
  DATABASE_URL: [
    'sqlite:|sqlite::memory:|sqlite://x.sqlite|sqlite:~/x.sqlite|sqlite:x.sqlite?synchronous=off|sqlite:x.sqlite#y',
    'sqlserver://db/x|mysql://db:port/x|db|memory:|postgres://db:port/x|postgres://u:p@/x|postgresql|postgres://u:%zz@db/x',
    // The driver would ignore these parameters, or prefer them to the limits of the service.
    'postgres://db/x?statement_timeout=0|postgres://db/x?sslmode=require&query_timeout=1|postgres://d\nb/x',
    'postgres://db/x?idle_in_transaction_session_timeout=0|postgres://db/x?target_session_attrs=read-write',
    // Unknown or misspelt parameters, those of libpq or the driver that have no effect here, and repeated ones, of which the driver takes the last.
    'postgres://db/x?schema=auth|postgres://db/x?sslmod=verify-full|postgres://db/x?SSLMODE=verify-full',
    'postgres://db/x?dbname=y|postgres://db/x?connect_timeout=5|postgres://db/x?sslmode=require&channel_binding=require',
    'postgres://db/x?client_encoding=LATIN1|postgres://db/x?replication=1|postgres://db/x?sslmode=disable&sslmode=require',
    'mariadb://db/x?sslmode=verify-full|mysql://db/x?ssl=false',
    'mysql://a,/x|mysql://a,b:port/x|mysql://a%2Cb/x|mysql://a,b/x?ssl=no',
    // Several hosts.
    'postgresql://one,other/x|postgresql://one:5432,other:5432/x|postgresql:///x?host=one,other|postgresql://one%2Cother/x',
  ].join('|'),
  DATABASE_TABLE_PREFIX: `_|1a|Auth_|a-b|a.b|a"|a${'b'.repeat(31)}`,
  DATABASE_POOL_SIZE: '0|1001|many',
  MIGRATE_ON_START: NO_FLAGS,
  REDIS_URL: [
    'localhost:6379|http://localhost|redis|,|redis://a,|redis://a,http://b|redis://a,rediss://b|redis://:p@a,redis://b',
    'redis://a/1,redis://b/1|redis://u:%zz@a|redis://|redis://a/x|redis://a?commandTimeout=0|r\nedis://a',
    'redis://a?family=6&enableOfflineQueue=1|redis://a?family=6,redis://b?family=6|redis-sentinel://a/main',
    'redis+sentinel://|redis+sentinel:///main|redis+sentinel://a,/main|redis+sentinel://a:x/main',
    'redis+sentinel://a,redis+sentinel://b/main|redis+sentinel://u:%zz@a/main',
    // Paths without the name of the master, or with more than a name and a number.
    'redis+sentinel://a|redis+sentinel://a,b/|redis+sentinel://a/main/x|redis+sentinel://a/main/0#x|redis+sentinel://a/ma%20in',
    ...[
      'commandTimeout=0',
      'family=4&family=6',
      'family=5',
      'sentinel_username=u',
      'sentinel_username=u&sentinel_password=',
    ].map((query) => `redis+sentinel://a/main?${query}`),
  ].join('|'),
  PASSWORD_HASH: 'argon2|argon2i|scrypt|Bcrypt',
  PASSWORD_MIN_LENGTH: '7|65|eight',
  LEAKED_PASSWORDS_FILE: 'a\nb|~/list| list',
  LEAKED_PASSWORDS_URL: 'ftp://a|https://a?b|https://u:p@a|a',
  BCRYPT_COST: '3|16|10.5|ten|-10|010',
  JWT_ISSUER: NOT_CONFIGURED,
  JWT_AUDIENCE: NOT_CONFIGURED,
  JWT_ACCESS_EXPIRES_IN: `${NO_DURATIONS}|0`,
  JWT_REFRESH_EXPIRES_IN: `${NO_DURATIONS}|0`,
  SESSION_MAX_LIFETIME: `${NO_DURATIONS}|0|never`,
  JWT_AUTHENTICATION_CLAIMS: NO_FLAGS,
  JWT_SESSION_CLAIM: NO_FLAGS,
  JWT_REFRESH_RACE_WINDOW: NO_WINDOWS,
  JWT_REFRESH_REPLAY_WINDOW: NO_WINDOWS,
  JWT_BINDING: 'true|On|required',
  DEVICE_BINDING: 'on|true|Enforce',
  CLEAR_SITE_DATA: 'on|*|cache;storage|cache, off',
  JWT_REFRESH_COOKIE_PREFIX: '__Host-|__Secure-|__http-|none',
  JWT_REFRESH_COOKIE_PATH: 'auth|/a;b|/a,b|/a b|/a\r\nb|/ü|/\x7f',
  JWT_REFRESH_COOKIE_SAME_SITE: 'Strict|no',
  JWT_REFRESH_COOKIE_SECURE: NO_FLAGS,
  JWT_REFRESH_COOKIE_MAX_AGE_MS: '999|0|7d|1e9|315360000001',
  ACCESS_COOKIE: NO_FLAGS,
  ACCESS_COOKIE_DOMAIN: 'https://example.com|Example.com|evil.test',
  LOGIN_PAGE_URL:
    '/log-in|localhost/log-in|http://localhost:3000/#log-in|http://u:p@localhost:3000/|https://evil.test/|javascript:1',
  PAGE_SERVERS: `pages|pages:secret|:${KEY_0}|pages:${KEY_0},|a b:${KEY_0}|pages:${KEY_0}=`,
  MAIL_URL: [
    'mail.example.com|http://mail.example.com|smtp:|smtp://|smtp://:25|smtp://a.b:0|smtp://a.b:65536|smtp://a.b/inbox',
    'smtp://a.b?secure=false|smtp://a.b#|smtp://u@a.b|smtp://:p@a.b|smtp://u:%zz@a.b|smtp://u%0D%0A:p@a.b',
    'smtp://u:p%00@a.b|smtp://u:p/w@a.b|smtp://ma%20il.example.com|s\nmtp://a.b',
  ].join('|'),
  MAIL_OAUTH:
    'https://a.b/token|https://id@a.b/token|http://id:s@a.b/token|https://id:s@a.b/token#x|https://id:s@a.b/token?other=1|smtp://id:s@a.b',
  MAIL_FROM: [
    'Example|<a@b.c>|a@b.c, b@b.c|Example, Inc. <a@b.c>|Example <a@b.c> x|Example <<a@b.c>>|Example<a@b.c>',
    `a\r\nBcc: b@b.c <a@b.c>|Example <auth@exam\nple.com>|Team: a <a@b.c>| a@b.c|auth@|@b.c|auth@-b.c`,
    `${'a'.repeat(101)} <a@b.c>|auth@${'a.'.repeat(125)}com`,
  ].join('|'),
  ACCOUNT_PAGES_URL: '/account|app.example.com|ftp://example.com|https://a.example/#a|https://u:p@a.example',
  REGISTRATION: 'on|true|Closed|off|invite',
  REGISTRATION_DOMAINS: `,|example.com,|com|*.example.com|@example.com|a@example.com|..example.com|example.com.|https://example.com|exa mple.com|exa\tmple.com|1.2.3.4|${'a.'.repeat(127)}com`,
  HOOK_BEFORE_REGISTER:
    'on|/hook|a.b/hook|http://a.b/|http://10.0.0.1/|https://u:p@a.b/|https://u@a.b|https://a.b/#x|ftp://localhost/|https://a b/',
  HOOK_PRIVATE_KEY: `secret|whsk_AAAA|${privatePem(OTHER_CURVE)}|${privatePem(HOOK_KEY).slice(0, 60)}`,
  WEBHOOK_ALLOWED_NETWORKS: '10.1.2.3|10.1.0.0/33|localhost/8|10.0.0.0/8,|fd00::/129|*',
  ADOPTION_PUBLIC_KEY: [
    `secret|${privatePem(OTHER_CURVE)}|${publicPem(OTHER_CURVE)}x|${publicPem(OTHER_CURVE).repeat(6)}`,
    publicPem(generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey),
    publicPem(generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey),
  ].join('|'),
  ADOPTION_ENDS: NO_DATES,
  VERIFY_PASSWORDS_AT: 'on|http://a.b/|https://u:p@a.b/|https://a.b/#x',
  VERIFY_PASSWORDS_UNTIL: NO_DATES,
  EMAIL_VERIFICATION: 'on|true|Required',
  LOGIN_BY_CODE: 'true|On|optional',
  OIDC_PROVIDERS: `,|google,|Google|a_b|-a|a-|a--b|1|a,a|${'a'.repeat(32)}|${[...'abcdefghijk'].join(',')}`,
  NEW_DEVICE_CODE: 'true|On|required',
  PASSWORDS: 'off|true|Optional',
  MAIL_NOTICES: 'on|,|email,|email,off|Email|mail',
  SECOND_FACTOR: 'off|true|Required',
  FACTOR_KEYS: [
    `secret|,|${KEY_0},|${KEY_0}=|${KEY_0},secret|${KEY_0},${KEY_0}|${FACTOR_KEYS.join(',')}`,
    // Another text for the bytes of a key, then keys of other lengths, and in other encodings.
    `${'A'.repeat(42)}B`,
    ...[31, 33].map((length) => Buffer.alloc(length).toString('base64url')),
    ...(['base64', 'hex'] as const).map((encoding) => Buffer.alloc(32, 255).toString(encoding)),
  ].join('|'),
  EVENTS_RETENTION: `${NO_DURATIONS}|0`,
  BRAND_NAME: ` Acme|Acme |a\nb|a\u202eb|${'x'.repeat(61)}`,
  BRAND_LOGO_URL:
    'logo.svg|http://cdn.example.com/logo.svg|https://u:p@cdn.example.com/logo.svg|https://*.example.com/logo.svg|https://cdn.example.com/a b.svg|data:image/png;base64,AAAA|javascript:alert(1)',
  BRAND_LOGO_DARK_URL: 'logo.svg|http://cdn.example.com/logo.svg',
  BRAND_ICON_URL: 'icon.png|data:image/png;base64,AAAA',
  BRAND_TERMS_URL: 'terms|javascript:alert(1)',
  BRAND_PRIVACY_URL: '/privacy|ftp://a.b/',
  BRAND_SUPPORT_URL: 'help@a.b|mailto:|mailto:help@a.b?subject=x|tel:+1|javascript:alert(1)',
  BRAND_COLOR: '14643a|#123|red|#14643a;|#14643g|rgb(0,0,0)',
  ACCOUNT_PAGES: 'yes|true|1',
  BRAND_FONT: 'Inter;|url(x)|a,,b|{}',
  BRAND_RADIUS: '-1|33|8px|0.5',
  BRAND_BACKGROUND: 'white|#fff',
  DEFAULT_LOCALE: `de_AT|a b|*|${'x'.repeat(36)}`,
  PAGE_TEMPLATES: '~/pages|pages ',
  MAIL_TEMPLATES: '~/mail| mail|ma\nil',
};
