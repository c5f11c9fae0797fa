// Proves SPEC 2.1, 2.5, 2.7, 2.11, 3.1, 3.2, 3.3, 3.4, 3.5, 3.6, 3.7, 4.1, 4.2, 4.3, 4.4, 4.5, 4.6, 4.7, 11.1, 11.2, 11.3, 11.5
// Proves SPEC 13.1, 13.2, 13.3, 13.4, 13.7, 14.2, 14.3, 14.4, 14.5, 14.6, 14.7, 14.8, 14.9, 14.10
// Proves SPEC 16.4, 24.7, 24.8; ASVS 3.3.4, 6.2.1; bcp-1
import { describe, expect, it } from 'vitest';
import { fixedClock } from '../support/fixed-clock.ts';
import { cookieAttributes, opened, servicesOverOneDatabase, signUp, tokenIn, ULID } from '../support/http/auth-http.ts';
import { aPerson, refreshCookieOf } from '../support/http/service.ts';

/** Not a whole second, so that times in seconds have to be rounded. */
const NOW = Date.UTC(2026, 0, 1, 12, 0, 0, 750);
const NOW_SECONDS = Math.floor(NOW / 1000);

const { start } = servicesOverOneDatabase();
const service = await start({}, () => ({ clock: fixedClock(NOW) }));

const register = (body: object) => service.http.post('/auth/register').send(body);

describe('the access token', () => {
  it('contains exactly the specified claims, and is valid for 15 minutes', async () => {
    const { user, accessToken } = await signUp(service);
    const { header, claims } = opened(accessToken);
    expect(claims).toStrictEqual({
      sub: user.id,
      iat: NOW_SECONDS,
      exp: NOW_SECONDS + 15 * 60,
      jti: expect.stringMatching(ULID),
      tokenType: 'access',
      user,
    });
    expect(header).toStrictEqual({
      alg: 'ES256',
      typ: 'JWT',
      kid: expect.any(String),
      sid: expect.stringMatching(ULID),
    });
  });

  it('is valid for JWT_ACCESS_EXPIRES_IN', async () => {
    const { claims } = opened((await signUp(await start({ JWT_ACCESS_EXPIRES_IN: '90s' }))).accessToken);
    expect(Number(claims.exp) - Number(claims.iat)).toBe(90);
  });
});

describe('the refresh token', () => {
  it('contains exactly the specified claims, no data of the user, and is valid for 7 days', async () => {
    const { user, accessToken, cookie } = await signUp(service);
    const { header, claims } = opened(tokenIn(cookie));
    expect(claims).toStrictEqual({
      sub: user.id,
      iat: NOW_SECONDS,
      exp: NOW_SECONDS + 7 * 24 * 3600,
      jti: expect.stringMatching(ULID),
      tokenType: 'refresh',
    });
    expect(header).toStrictEqual({
      alg: 'ES256',
      typ: 'JWT',
      kid: expect.any(String),
      sid: expect.stringMatching(ULID),
      rot: 0,
    });
    const access = opened(accessToken);
    expect(claims.jti).not.toBe(access.claims.jti);
    expect(header.kid).not.toBe(access.header.kid);
  });

  it('is valid for JWT_REFRESH_EXPIRES_IN', async () => {
    const { claims } = opened(tokenIn((await signUp(await start({ JWT_REFRESH_EXPIRES_IN: '30d' }))).cookie));
    expect(Number(claims.exp) - Number(claims.iat)).toBe(30 * 24 * 3600);
  });
});

describe('the refresh cookie', () => {
  const DEFAULTS = {
    HttpOnly: true,
    Path: '/auth',
    SameSite: 'Lax',
    'Max-Age': '604800',
    Expires: expect.any(String),
  };

  it.each([
    [{ JWT_REFRESH_COOKIE_PATH: '/' }, { Path: '/' }],
    [{ JWT_REFRESH_COOKIE_PATH: '/api/v1/auth', BASE_URL: 'https://example.org/api/v1' }, { Path: '/api/v1/auth' }],
    [{ BASE_URL: 'https://example.org/api/v1' }, { Path: '/api/v1/auth' }],
    [{ JWT_REFRESH_COOKIE_SAME_SITE: 'strict' }, { SameSite: 'Strict' }],
    [
      { JWT_REFRESH_COOKIE_SAME_SITE: 'none', JWT_REFRESH_COOKIE_SECURE: 'true' },
      { SameSite: 'None', Secure: true },
    ],
    [{ JWT_REFRESH_COOKIE_SECURE: 'true' }, { Secure: true }],
    [{ JWT_REFRESH_COOKIE_MAX_AGE_MS: '3600000' }, { 'Max-Age': '3600' }],
    [{ JWT_REFRESH_COOKIE_MAX_AGE_MS: '1999' }, { 'Max-Age': '1' }],
  ])('follows the configuration: %o', async (env, attributes) => {
    const { http } = await start(env);
    const response = await http.post('/auth/register').send(aPerson()).expect(201);
    expect(cookieAttributes(refreshCookieOf(response))).toStrictEqual({ ...DEFAULTS, ...attributes });
  });
});

const long = (length: number) => `long.${'n'.repeat(length - 5)}`;
const longEmail = (length: number) => {
  const local = 'l'.repeat(64);
  const domain = `${'a'.repeat(63)}.${'b'.repeat(63)}.`;
  return `${local}@${domain}${'c'.repeat(length - local.length - 1 - domain.length - 4)}.org`;
};

it.each([
  ['a username of 2 characters', { username: 'ab' }, 'username', 'too_short'],
  ['a username of 33 characters', { username: long(33) }, 'username', 'too_long'],
  ['a username with an @', { username: 'a@b' }, 'username', 'invalid_format'],
  ['a username of the form of an id', { username: '01m805m0dqrnb7pksres70k5mb' }, 'username', 'invalid_format'],
  ['an email of 255 characters', { email: longEmail(255) }, 'email', 'too_long'],
  ['an email without a domain', { email: 'ada@' }, 'email', 'invalid_format'],
  ['an email of blanks', { email: '   ' }, 'email', 'required'],
  ['a password of 7 characters', { password: '1234567' }, 'password', 'too_short'],
  ['a password of 73 bytes', { password: 'p'.repeat(73) }, 'password', 'too_long'],
  ['a password with a NUL', { password: 'nul\0 inside' }, 'password', 'invalid_characters'],
])('the limits of a field refuse %s', async (_title, fields, field, code) => {
  const response = await register({ ...aPerson(), ...fields });
  expect(response.status).toBe(400);
  expect(response.body).toMatchObject({ success: false, code: 'CLIENT_PARAMS_VALIDATION_FAILED' });
  expect(response.body.details).toStrictEqual([{ field, message: expect.any(String), code }]);
  expect(response.get('Set-Cookie')).toBeUndefined();
});
