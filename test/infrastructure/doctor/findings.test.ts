// Proves operator-7
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { keys } from '../../../src/infrastructure/commands/doctor/keys.ts';
import { configuration } from '../../../src/infrastructure/commands/doctor/settings.ts';
import { cookie, device, proxy } from '../../../src/infrastructure/commands/doctor/site.ts';
import { clockFinding, database } from '../../../src/infrastructure/commands/doctor/stores.ts';
import { newFactorKey, newPair, privatePem } from '../../../src/infrastructure/keys.ts';
import { brief, setUpOf } from '../../support/doctor.ts';
import { NO_WARNINGS } from '../../support/processes/environments.ts';
import { temporaryDirectory } from '../../support/storage/temporary-directory.ts';

type Env = Readonly<Record<string, string>>;

/** A DATA_DIR with these files. */
const dataDirWith = (files: Env): string => {
  const { path } = temporaryDirectory();
  for (const name of ['keys', 'database']) mkdirSync(join(path, name));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(path, name), text);
  return path;
};

const production = (base: string, ...origins: readonly string[]) => ({
  NODE_ENV: 'production',
  BASE_URL: base,
  ALLOWED_ORIGINS_PROD: origins.join(),
});
const local = (base: string, ...origins: readonly string[]) => ({
  BASE_URL: base,
  ALLOWED_ORIGINS_DEV: origins.join(),
  JWT_REFRESH_COOKIE_SECURE: 'false',
});
const SECURE = { JWT_REFRESH_COOKIE_SECURE: 'true' };
const NONE = { JWT_REFRESH_COOKIE_SAME_SITE: 'none' };
const AUTH = 'https://auth.example.com';

const HTTPS = { BASE_URL: AUTH };
const BOUND = { ...HTTPS, ...SECURE };

type Row = readonly [what: string, env: Env, expected: readonly string[]];
const CONFIGURATIONS: readonly Row[] = [
  ['in order', NO_WARNINGS, ['ok configuration.valid']],
  [
    'risky',
    { ...NO_WARNINGS, RATE_LIMITS: 'strict=off' },
    ['ok configuration.valid', 'warning configuration.RATE_LIMITS'],
  ],
  [
    'risky at the database',
    { ...NO_WARNINGS, DATABASE_URL: '' },
    ['ok configuration.valid', 'warning configuration.DATABASE_URL'],
  ],
  ['invalid, and not also unset', { ...NO_WARNINGS, BASE_URL: 'none' }, ['problem configuration.BASE_URL']],
  ['contradictory', { ...NO_WARNINGS, BCRYPT_COST: '4' }, ['problem configuration.BCRYPT_COST']],
  ['without a key', { ...NO_WARNINGS, JWT_ACCESS_PRIVATE_KEY: '' }, ['problem configuration.JWT_ACCESS_PRIVATE_KEY']],
];
const COOKIES: readonly Row[] = [
  ['one site, one origin', production(AUTH, AUTH), ['ok cookie.same-site']],
  ['two labels', production('https://auth.example.co.uk', 'https://example.co.uk'), ['ok cookie.same-site']],
  ['other ports', local('http://localhost:3000', 'http://localhost:5173'), ['ok cookie.same-site']],
  ['one address', local('http://[::1]:3000', 'http://[::1]:5173'), ['ok cookie.same-site']],
  ['another domain', production(AUTH, 'https://app.example.org'), ['problem cookie.other-site']],
  ['a public suffix', production('https://a.co.uk', 'https://b.co.uk'), ['problem cookie.other-site']],
  ['a private suffix', production('https://a.github.io', 'https://b.github.io'), ['problem cookie.other-site']],
  ['another address', production('https://10.0.0.1', 'https://10.0.0.2'), ['problem cookie.other-site']],
  ['two loopbacks', local('http://localhost:3000', 'http://127.0.0.1:5173'), ['problem cookie.other-site']],
  ['a page without TLS', production(AUTH, 'http://app.example.com'), ['problem cookie.other-scheme']],
  [
    'TLS for the page alone',
    local('http://auth.example.com', 'https://app.example.com'),
    ['problem cookie.mixed-content'],
  ],
  ['SameSite=None', { ...production(AUTH, 'https://app.example.org'), ...NONE }, ['warning cookie.third-party']],
  [
    'one of each',
    production(AUTH, 'https://app.example.com', 'https://app.example.org'),
    ['ok cookie.same-site', 'problem cookie.other-site'],
  ],
  [
    'a Secure cookie over http',
    { ...local('http://auth.example.com', 'http://app.example.com'), ...SECURE },
    ['problem cookie.secure-over-http', 'ok cookie.same-site'],
  ],
  [
    'a Secure cookie on the loopback',
    { ...local('http://localhost:3000', 'http://localhost'), ...SECURE },
    ['note cookie.secure-on-loopback', 'ok cookie.same-site'],
  ],
  ['no origin', production(AUTH), ['note cookie.no-origins']],
  ['an app', production(AUTH, 'capacitor://localhost'), ['note cookie.program']],
  ['an unknown address', { NODE_ENV: 'production' }, ['note cookie.unknown']],
];
const PROXIES: readonly Row[] = [
  ['a proxy', { ...HTTPS, TRUST_PROXY: '1' }, ['note proxy.hops']],
  ['no TLS in front', { TRUST_PROXY: '1' }, ['warning proxy.unlikely']],
  ['TLS in front, in development', HTTPS, ['warning proxy.untrusted']],
  ['TLS in front, in production: the start warns', { ...HTTPS, NODE_ENV: 'production' }, []],
  ['none', {}, ['ok proxy.none']],
];
const DEVICES: readonly Row[] = [
  ['https and a Secure cookie', BOUND, ['ok device.browser-keys']],
  ['http', {}, ['note device.page-keys']],
  ['an insecure cookie', { ...BOUND, JWT_REFRESH_COOKIE_SECURE: 'false' }, ['note device.page-keys']],
  ['keys that are off', { ...BOUND, DEVICE_BINDING: 'off' }, ['note device.page-keys']],
  ['tokens that are bound', { ...BOUND, JWT_BINDING: 'on' }, ['note device.bound-tokens', 'ok device.browser-keys']],
];

describe.each([
  ['the configuration', configuration, CONFIGURATIONS],
  ['the cookie', cookie, COOKIES],
  ['the proxy', proxy, PROXIES],
  ['the keys of devices', device, DEVICES],
] as const)('the doctor on %s', (_subject, check, rows) => {
  it.each(rows)('%s', (_what, env, expected) => {
    expect(brief(check(setUpOf(env)))).toEqual(expected);
  });
});

it.each([
  [1_000, 'ok'],
  [-1_200, 'ok'],
  [1_300, 'warning'],
  [-1_300, 'warning'],
  [300_000, 'warning'],
])('the doctor on clocks %d ms apart, plus or minus 200', (ahead, severity) => {
  expect(clockFinding(1_000, 1_200 + ahead, 1_400)).toMatchObject({ severity });
});

it.each<[string, Env, Env, string]>([
  ['not created', {}, {}, 'note database.missing'],
  ['not created, and never migrated', {}, { MIGRATE_ON_START: 'false' }, 'problem database.missing'],
  ['no database', { 'database.sqlite': 'secret'.repeat(500) }, {}, 'problem database.unreachable'],
])('the doctor on a file of SQLite %s', async (_what, files, env, expected) => {
  const seen = await database(setUpOf({ ...env, DATA_DIR: dataDirWith(files) }));
  expect(brief(seen)).toEqual([expected]);
  expect(JSON.stringify(seen)).not.toContain('secret');
});

describe('the doctor on keys', () => {
  const [one, other] = [privatePem(newPair().privateKey), privatePem(newPair().privateKey)];
  it.each<[string, Env, string[]]>([
    ['made', { access: one, refresh: other }, ['ok keys.access', 'ok keys.refresh', 'note keys.factors']],
    ['missing', {}, ['note keys.access', 'note keys.refresh', 'note keys.factors']],
    ['unusable', { access: 'S3CRET', refresh: other }, ['problem keys.access', 'ok keys.refresh', 'note keys.factors']],
    [
      'shared',
      { access: one, refresh: one },
      ['ok keys.access', 'ok keys.refresh', 'problem keys.shared', 'note keys.factors'],
    ],
  ])('of DATA_DIR that are %s', async (_what, pems, expected) => {
    const files = Object.entries(pems).map(([kind, pem]) => [join('keys', `${kind}.pem`), pem]);
    const seen = await keys(setUpOf({ DATA_DIR: dataDirWith(Object.fromEntries(files)) }));
    expect(brief(seen)).toEqual(expected);
    expect(JSON.stringify(seen)).not.toContain('S3CRET');
  });

  it.each([
    ['made', newFactorKey(), 'ok keys.factors'],
    ['unusable', 'S3CRET', 'problem keys.factors'],
  ])('for authenticator apps, of DATA_DIR, that is %s', async (_what, text, expected) => {
    const seen = await keys(setUpOf({ DATA_DIR: dataDirWith({ [join('keys', 'factors.key')]: text }) }));
    expect(brief(seen)).toContain(expected);
    expect(JSON.stringify(seen)).not.toContain(text);
  });

  it.each([
    ['set', NO_WARNINGS, 'ok keys.factors'],
    ['unset', { ...NO_WARNINGS, FACTOR_KEYS: '' }, 'note keys.factors'],
  ])('for authenticator apps, of production, that are %s', async (_what, env, expected) => {
    expect(brief(await keys(setUpOf(env)))).toEqual(['ok keys.access', 'ok keys.refresh', expected]);
  });

  it.each(['JWT_ACCESS_PUBLIC_KEY', 'FACTOR_KEYS'])('that are invalid variables: skipped (%s)', async (name) => {
    expect(brief(await keys(setUpOf({ ...NO_WARNINGS, [name]: 'none' })))).toEqual(['note keys.skipped']);
  });
});
