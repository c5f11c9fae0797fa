import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../../src/infrastructure/config.ts';
import { blamed, type Env, problemsOf } from '../../support/config-problems.ts';
import { DEVELOPMENT, PRODUCTION } from '../../support/processes/environments.ts';

const IN_PRODUCTION = { ...PRODUCTION, BASE_URL: 'https://auth.example.com' };

describe.each([
  ['development', DEVELOPMENT],
  ['production', IN_PRODUCTION],
])('in %s', (_environment, base) => {
  it.each([
    [
      'an access token that outlives the refresh token',
      { JWT_ACCESS_EXPIRES_IN: '8d' },
      { JWT_ACCESS_EXPIRES_IN: '7d' },
      ['JWT_ACCESS_EXPIRES_IN'],
    ],
    [
      'a refresh token that is over before the access token',
      { JWT_REFRESH_EXPIRES_IN: '10m', JWT_ACCESS_EXPIRES_IN: '11m' },
      { JWT_REFRESH_EXPIRES_IN: '10m', JWT_ACCESS_EXPIRES_IN: '10m' },
      ['JWT_ACCESS_EXPIRES_IN'],
    ],
    [
      'a race window of ten years',
      { JWT_REFRESH_RACE_WINDOW: '3650d', JWT_REFRESH_EXPIRES_IN: '3650d' },
      { JWT_REFRESH_RACE_WINDOW: '5m', JWT_REFRESH_EXPIRES_IN: '3650d' },
      ['JWT_REFRESH_RACE_WINDOW'],
    ],
    [
      'a race window of over a tenth of a lifetime',
      { JWT_REFRESH_RACE_WINDOW: '61s', JWT_REFRESH_EXPIRES_IN: '10m' },
      { JWT_REFRESH_RACE_WINDOW: '60s', JWT_REFRESH_EXPIRES_IN: '10m' },
      ['JWT_REFRESH_RACE_WINDOW'],
    ],
    [
      'a replay window of ten years',
      { JWT_REFRESH_REPLAY_WINDOW: '3650d', JWT_REFRESH_EXPIRES_IN: '3650d' },
      { JWT_REFRESH_REPLAY_WINDOW: '5m', JWT_REFRESH_RACE_WINDOW: '5m', JWT_REFRESH_EXPIRES_IN: '3650d' },
      ['JWT_REFRESH_REPLAY_WINDOW'],
    ],
    [
      'a replay window above the race window',
      { JWT_REFRESH_REPLAY_WINDOW: '11s' },
      { JWT_REFRESH_REPLAY_WINDOW: '10s' },
      ['JWT_REFRESH_REPLAY_WINDOW'],
    ],
    [
      'a replay window without a race window',
      { JWT_REFRESH_REPLAY_WINDOW: '1s', JWT_REFRESH_RACE_WINDOW: '0' },
      { JWT_REFRESH_REPLAY_WINDOW: '0', JWT_REFRESH_RACE_WINDOW: '0' },
      ['JWT_REFRESH_REPLAY_WINDOW'],
    ],
    [
      'a replay window above the race window that a short lifetime leaves',
      { JWT_REFRESH_REPLAY_WINDOW: '10s', JWT_REFRESH_EXPIRES_IN: '60s' },
      { JWT_REFRESH_REPLAY_WINDOW: '6s', JWT_REFRESH_EXPIRES_IN: '60s' },
      ['JWT_REFRESH_REPLAY_WINDOW'],
    ],
    [
      'a URL that has statements take as long as they like',
      { DATABASE_URL: 'postgresql://db/x?sslmode=verify-full&statement_timeout=0' },
      { DATABASE_URL: 'postgresql://db/x?sslmode=verify-full&application_name=x' },
      ['DATABASE_URL'],
    ],
    [
      'a URL of several hosts',
      { DATABASE_URL: 'postgresql://one,other/x?sslmode=verify-full' },
      { DATABASE_URL: 'postgresql://one/x?sslmode=verify-full' },
      ['DATABASE_URL'],
    ],
    [
      'a URL of several hosts with ports',
      { DATABASE_URL: 'postgresql://one:5432,other:5432/x?sslmode=verify-full' },
      { DATABASE_URL: 'postgresql://one:5432/x?sslmode=verify-full' },
      ['DATABASE_URL'],
    ],
    [
      'a URL of several hosts in a parameter',
      { DATABASE_URL: 'postgresql:///x?host=one,other&sslmode=verify-full' },
      { DATABASE_URL: 'postgresql:///x?host=one&sslmode=verify-full' },
      ['DATABASE_URL'],
    ],
    [
      'a URL that looks for the primary among several hosts',
      { DATABASE_URL: 'postgresql://db/x?sslmode=verify-full&target_session_attrs=read-write' },
      { DATABASE_URL: 'postgresql://db/x?sslmode=verify-full' },
      ['DATABASE_URL'],
    ],
    [
      'a URL of a MariaDB with a parameter that would have no effect',
      { DATABASE_URL: 'mariadb://db/x?sslmode=verify-full' },
      { DATABASE_URL: 'mariadb://db/x?ssl=true' },
      ['DATABASE_URL'],
    ],
    [
      'a URL of a MySQL whose TLS is not what it says',
      { DATABASE_URL: 'mysql://db/x?ssl=false' },
      { DATABASE_URL: 'mysql://db/x' },
      ['DATABASE_URL'],
    ],
  ] satisfies [string, Env, Env, string[]][])('%s is refused', (_what, refused, accepted, names) => {
    expect(blamed({ ...base, ...refused })).toEqual(names);
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
    ['https://example.com/api', '/', true],
    ['https://example.com/api', '/auth', false],
    ['https://example.com/api', '/api/v1/auth', false],
    ['https://example.com/%61pi', '/%61pi/auth', true],
  ])('of a service at %s a cookie of the path %s goes to refresh and log-out: %s', (url, path, goes) => {
    const names = blamed({ ...base, BASE_URL: url, JWT_REFRESH_COOKIE_PATH: path });
    expect(names).toEqual(goes ? [] : ['JWT_REFRESH_COOKIE_PATH']);
  });

  it.each([
    ['redis+sentinel://a', 'must name the master'],
    ['redis+sentinel://a,b/', 'must name the master'],
    ['redis+sentinel://a/main/x', 'must name the master'],
    ['redis+sentinel://a/main/0#x', 'must name the master'],
    ['redis+sentinel://a/ma%20in', 'must name the master'],
    ['redis+sentinel://a/main?commandTimeout=0', 'must have no query parameter except'],
    ['redis+sentinel://a/main?family=4&family=6', 'must have no query parameter except'],
    ['redis+sentinel://a/main?family=5', 'must have a family of 4 or 6'],
    ['redis+sentinel://a/main?sentinel_username=u', 'must have sentinel_password'],
    ['redis+sentinel://a/main?sentinel_username=u&sentinel_password=', 'must have sentinel_password'],
  ])('of sentinels, %s %s', (url, problem) => {
    expect(problemsOf({ ...base, REDIS_URL: url })).toEqual([expect.stringContaining(`REDIS_URL: ${problem}`)]);
  });

  it('a variable that does not fit is blamed alone, and not those that depend on it', () => {
    for (const name of [
      'JWT_REFRESH_EXPIRES_IN',
      'JWT_REFRESH_RACE_WINDOW',
      'JWT_REFRESH_COOKIE_PATH',
      'BASE_URL',
      'REDIS_URL',
      'DATABASE_URL',
      'REQUEST_TIMEOUT_MS',
      'METRICS',
      'PORT',
      'MAIL_URL',
      'MAIL_FROM',
      'MAIL_NOTICES',
    ]) {
      const others = {
        REDIS_URL: 'redis://127.0.0.1',
        JWT_REFRESH_REPLAY_WINDOW: '10s',
        METRICS: '9464',
      };
      expect(blamed({ ...base, ...others, [name]: 'unfit' })).toEqual([name]);
    }
  });
});

describe('a cookie path that goes nowhere', () => {
  it('is refused in production without a BASE_URL, too', () => {
    expect(blamed({ ...PRODUCTION, JWT_REFRESH_COOKIE_PATH: '/api/auth' })).toEqual(['JWT_REFRESH_COOKIE_PATH']);
  });

  it('is accepted in development without one, where a proxy may stand in front', () => {
    expect(parseConfig({ JWT_REFRESH_COOKIE_PATH: '/api/auth' }).refreshCookie.path).toBe('/api/auth');
  });
});

describe('a prefix of the cookie', () => {
  const SECURE = { JWT_REFRESH_COOKIE_SECURE: 'true' };

  it.each(['__Http-', '__Host-Http-'])('is refused without Secure: %s', (prefix) => {
    expect(blamed({ JWT_REFRESH_COOKIE_PREFIX: prefix })).toEqual(['JWT_REFRESH_COOKIE_SECURE']);
  });

  it('is refused for the whole host with another path, and selects / alone', () => {
    const env = { ...SECURE, JWT_REFRESH_COOKIE_PREFIX: '__Host-Http-', BASE_URL: 'https://a.b/x' };
    expect(blamed({ ...env, JWT_REFRESH_COOKIE_PATH: '/x/auth' })).toEqual(['JWT_REFRESH_COOKIE_PATH']);
    expect(parseConfig(env).refreshCookie).toMatchObject({ prefix: '__Host-Http-', path: '/' });
    const ofHttp = parseConfig({ ...env, JWT_REFRESH_COOKIE_PREFIX: '__Http-' }).refreshCookie;
    expect(ofHttp).toMatchObject({ prefix: '__Http-', path: '/x/auth' });
  });
});

describe('a BASE_URL whose path cannot be the Path of a cookie', () => {
  it.each(['https://example.com/a,b', 'https://example.com/a;Domain=example.net'])('is refused: %s', (url) => {
    expect(blamed({ BASE_URL: url })).toEqual(['BASE_URL']);
    expect(blamed({ ...PRODUCTION, BASE_URL: url })).toEqual(['BASE_URL']);
    expect(parseConfig({ BASE_URL: url, JWT_REFRESH_COOKIE_PATH: '/' }).refreshCookie.path).toBe('/');
  });
});

describe('what is unset adapts to what is set', () => {
  it.each([
    ['the access token is over with the refresh token', { JWT_REFRESH_EXPIRES_IN: '2s' }, { accessLifetime: 2_000 }],
    ['the race window is a tenth of a short lifetime', { JWT_REFRESH_EXPIRES_IN: '5s' }, { raceWindow: 500 }],
    [
      'longer lifetimes change neither',
      { JWT_REFRESH_EXPIRES_IN: '90d' },
      { accessLifetime: 900_000, raceWindow: 10_000 },
    ],
    ['the cookie is for the path of BASE_URL', { BASE_URL: 'https://a.b/x/' }, { refreshCookie: { path: '/x/auth' } }],
    ['the cookie is for /auth', { BASE_URL: 'https://a.b' }, { refreshCookie: { path: '/auth' } }],
  ])('%s', (_what, env: Env, config) => {
    expect(parseConfig(env)).toMatchObject(config);
  });
});
