// Proves website-7
import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../src/infrastructure/config.ts';
import { startService, type TestService } from '../support/http/service.ts';
import { PRODUCTION } from '../support/processes/environments.ts';

const FILES = ['/console', '/console.css', '/console.js'];
const OWN = 'https://auth.example.org';

describe('the console', () => {
  it.each([
    ['/console', 'text/html; charset=utf-8'],
    ['/console.css', 'text/css; charset=utf-8'],
    ['/console.js', 'text/javascript; charset=utf-8'],
  ])('is %s, which browsers store and ask for again', async (path, type) => {
    const { http } = await startService();
    const { headers } = await http.get(path).expect(200);
    expect(headers).toMatchObject({ 'content-type': type, 'cache-control': 'no-cache' });
    const again = await http
      .get(path)
      .set('If-None-Match', headers.etag ?? '')
      .expect(304);
    expect(again.headers['content-security-policy']).toBe(headers['content-security-policy']);
  });

  it('may load nothing but its own files, call nothing but the service, and make no markup from text', async () => {
    const { http } = await startService();
    const { headers } = await http.get('/console');
    expect(headers['content-security-policy']?.split('; ').sort()).toEqual([
      "base-uri 'none'",
      "connect-src 'self'",
      "default-src 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
      "frame-src 'self'",
      'img-src data:',
      "require-trusted-types-for 'script'",
      "script-src 'self'",
      "style-src 'self'",
      "trusted-types 'none'",
    ]);
  });

  it.each([
    ['of the token', { JWT_REFRESH_EXPIRES_IN: '2h' }, 7_200_000],
    [
      'of the cookie, if that is shorter',
      { JWT_REFRESH_EXPIRES_IN: '2h', JWT_REFRESH_COOKIE_MAX_AGE_MS: '60000' },
      60_000,
    ],
  ])('gets the lifetime %s', async (_whose, env, lifetime) => {
    const { http } = await startService(env);
    expect((await http.get('/console')).text).toContain(`<meta name="refresh-lifetime" content="${lifetime}">`);
  });

  it.each(FILES)('is off: %s is not there', async (path) => {
    const { http } = await startService({}, {}, { console: false });
    await http.get(path).expect(404);
  });

  it('is there outside production alone', () => {
    expect(parseConfig({}).console).toBe(true);
    expect(parseConfig(PRODUCTION).console).toBe(false);
  });
});

describe('the origin of the service itself', () => {
  const askFrom = ({ http }: TestService, origin: string) =>
    http.post('/auth/login').set('Origin', origin).send({ account: 'ada', password: 'x' });

  it('is allowed while a page of the service needs it, and no other', async () => {
    const service = await startService();
    await askFrom(service, OWN).expect(401);
    for (const other of ['http://auth.example.org', 'https://auth.example.org:8443', 'http://localhost:3000', 'null'])
      await askFrom(service, other).expect(403);
  });

  it('is not allowed while neither the console nor the pages are there', async () => {
    const pages = { ACCOUNT_PAGES: 'off', ACCOUNT_PAGES_URL: 'https://app.example.org/account' };
    await askFrom(await startService(pages, {}, { console: false }), OWN).expect(403);
  });

  it('is BASE_URL, or this machine, but not in production', () => {
    const originsOf = (env: Readonly<Record<string, string>>) => parseConfig(env).ownOrigins;
    expect(originsOf({ BASE_URL: 'https://example.com/auth/v1' })).toEqual(['https://example.com']);
    expect(originsOf({ PORT: '80' })).toEqual(['http://localhost', 'http://127.0.0.1', 'http://[::1]']);
    expect(originsOf({ BASE_URL: 'http://auth.localhost:1/x' })).toEqual(
      ['auth.localhost', 'localhost', '127.0.0.1', '[::1]'].map((host) => `http://${host}:1`),
    );
    expect(originsOf(PRODUCTION)).toEqual([]);
    expect(originsOf({ ...PRODUCTION, BASE_URL: OWN })).toEqual([OWN]);
  });
});
