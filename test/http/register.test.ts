// Proves SPEC 2.11, 3.1, 4.1, 11.1, 11.2, 11.3, 11.5, 13.2, 13.4, 13.7, 14.2, 14.3, 14.4, 14.5, 14.6, 14.7, 14.8, 14.9, 14.10, 24.7, 24.8
// Proves ASVS 3.3.4, 6.2.1; bcp-1
import { describe, expect, it } from 'vitest';
import { cookieAttributes, decode, servicesOverOneDatabase, signUp, tokenIn } from '../support/http/auth-http.ts';
import { aPerson, refreshCookieOf } from '../support/http/service.ts';

const { start } = servicesOverOneDatabase();

describe('the refresh cookie', () => {
  const DEFAULTS = { HttpOnly: true, Path: '/auth', SameSite: 'Lax', 'Max-Age': '604800', Expires: expect.any(String) };

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

it('both tokens live as long as the configuration says', async () => {
  const { accessToken, cookie } = await signUp(
    await start({ JWT_ACCESS_EXPIRES_IN: '90s', JWT_REFRESH_EXPIRES_IN: '30d' }),
  );
  for (const [token, lifetime] of [
    [accessToken, 90],
    [tokenIn(cookie), 30 * 24 * 3_600],
  ] as const) {
    const { iat = 0, exp } = decode(token).claims;
    expect(exp).toBe(iat + lifetime);
  }
});

it.each([
  ['a username of 2 characters', { username: 'ab' }, 'too_short'],
  ['a username of 33 characters', { username: 'n'.repeat(33) }, 'too_long'],
  ['an email without a domain', { email: 'ada@' }, 'invalid_format'],
  ['a password of 7 characters', { password: '1234567' }, 'too_short'],
  ['a password of 73 bytes', { password: 'p'.repeat(73) }, 'too_long'],
])('the limits of a field refuse %s', async (_title, fields, code) => {
  const { http } = await start();
  const { body } = await http
    .post('/auth/register')
    .send({ ...aPerson(), ...fields })
    .expect(400);
  expect(body.details).toStrictEqual([{ field: Object.keys(fields)[0], message: expect.any(String), code }]);
});
