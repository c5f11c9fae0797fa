// Proves SPEC 9.2, 9.16, 9.17, 9.18, 11.7, 14.1; ASVS 14.3.1, 16.5.3
import { describe, expect, it } from 'vitest';
import { AppError } from '../../src/domain/errors/app-error.ts';
import { cookieAttributes, refreshWith, servicesOverOneDatabase, signUp, tokensOf } from '../support/http/auth-http.ts';
import { aPerson, cookiePair, refreshCookieOf, type TestService } from '../support/http/service.ts';

const ALLOWED_ORIGIN = 'https://app.example.org';
const { start } = servicesOverOneDatabase();
const service = await start({ ALLOWED_ORIGINS_DEV: ALLOWED_ORIGIN });

const clear = (cookie?: string, { http }: TestService = service) => {
  const request = http.get('/auth/clear-cookie');
  return cookie === undefined ? request : request.set('Cookie', cookie);
};

describe('GET /auth/clear-cookie', () => {
  it.each([
    ['by default', {}],
    [
      'by configuration',
      {
        BASE_URL: 'https://auth.example.org/api',
        JWT_REFRESH_COOKIE_PATH: '/api/auth',
        JWT_REFRESH_COOKIE_SAME_SITE: 'none',
        JWT_REFRESH_COOKIE_SECURE: 'true',
        JWT_REFRESH_COOKIE_MAX_AGE_MS: '3600000',
      },
    ],
  ])('clears the cookie with the attributes with which it is set, %s', async (_title, env) => {
    const other = await start(env);
    const set = refreshCookieOf(await other.http.post('/auth/register').send(aPerson()).expect(201));
    const response = await clear(cookiePair(set), other).expect(200);
    const cleared = refreshCookieOf(response);
    expect(cookiePair(cleared)).toBe('refresh_token=');
    expect(cookieAttributes(cleared)).toStrictEqual({
      ...cookieAttributes(set),
      'Max-Age': '0',
      Expires: new Date(0).toUTCString(),
    });
  });

  it('removes what CLEAR_SITE_DATA names, as does the deletion of the account, and by default nothing', async () => {
    const other = await start({ CLEAR_SITE_DATA: 'storage,cache' });
    const { accessToken, person } = await signUp(other);
    const { http } = other;
    const bearer = { Authorization: `Bearer ${accessToken}` };
    const removed = [await clear(), await clear(undefined, other), await http.get('/users/me').set(bearer)];
    removed.push(await http.delete('/users/me').set(bearer).send({ password: person.password }).expect(200));
    const named = '"cache", "storage"';
    expect(removed.map(({ headers }) => headers['clear-site-data'])).toEqual([undefined, named, undefined, named]);
  });

  it.each([
    ['no cookie', undefined],
    ['garbage', 'refresh_token=garbage'],
    ['a malformed percent-encoding', 'refresh_token=%E0%A4%A'],
  ])('answers 200 and clears the cookie, given %s', async (_title, given) => {
    const response = await clear(given);
    expect(response.status).toBe(200);
    expect(response.body).toMatchObject({ success: true, data: null });
    expect(cookiePair(refreshCookieOf(response))).toBe('refresh_token=');
  });
});

it('GET /auth/clear-cookie, from a page of another site, changes nothing, and logs out when the origin is allowed', async () => {
  const { cookie } = await signUp(service);
  const response = await clear(cookie).set('Sec-Fetch-Site', 'cross-site');
  expect(response.status).toBe(200);
  expect(response.body).toMatchObject({ success: true, data: null });
  expect(response.get('Set-Cookie')).toBeUndefined();
  const next = tokensOf(await refreshWith(service, cookie).expect(200)).cookie;
  const out = await clear(next).set('Sec-Fetch-Site', 'cross-site').set('Origin', ALLOWED_ORIGIN).expect(200);
  expect(cookiePair(refreshCookieOf(out))).toBe('refresh_token=');
  const ended = await refreshWith(service, next);
  expect([ended.status, ended.body.code]).toEqual([401, 'AUTH_FAILED']);
});

it('GET /auth/clear-cookie, when the database fails answers DB_QUERY_FAILED and keeps the cookie, so that the client can try again', async () => {
  const broken = await start({}, ({ sessions }) => ({
    sessions: { ...sessions, end: () => Promise.reject(new AppError('DB_QUERY_FAILED')) },
  }));
  const { cookie } = await signUp(broken);
  const response = await clear(cookie, broken);
  expect([response.status, response.body.code]).toEqual([500, 'DB_QUERY_FAILED']);
  expect(response.get('Set-Cookie')).toBeUndefined();
  await refreshWith(broken, cookie).expect(200);
});
