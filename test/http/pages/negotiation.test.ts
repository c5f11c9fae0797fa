import { describe, expect, it } from 'vitest';
import { pagePolicy } from '../../../src/adapters/http/documents.ts';
import { servicesOverOneDatabase } from '../../support/http/auth-http.ts';

/** What browsers send when they open an address. */
const BROWSER_ACCEPT = {
  Chromium:
    'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8,application/signed-exchange;v=b3;q=0.7',
  Firefox: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
} as const;

const HTML = 'text/html; charset=utf-8';
const JSON_TYPE = 'application/json; charset=utf-8';
/** Addresses with a page and with JSON. */
const NEGOTIATED = ['/', '/errors', '/errors/AUTH_USER_DUPLICATE'];
/** Errors with a page and with JSON, and their codes. */
const FAILURES = [
  ['/nowhere', 404, 'SYS_HTTP_UNEXPECTED_ERROR'],
  ['/users/me/password', 405, 'SYS_HTTP_UNEXPECTED_ERROR'],
  ['/errors/NO_SUCH_CODE', 404, 'EXCEPTION_CATALOG_CODE_NOT_FOUND'],
] as const;

const { start } = servicesOverOneDatabase();
const service = await start({ LOGIN_BY_CODE: 'on' });
const ask = (path: string, accept: string) => service.http.get(path).set('Accept', accept);

/** The first of them says whether the page that a visitor comes from is allowed. */
const varyOf = (path: string) => (path === '/' ? 'Origin, Referer, Accept' : 'Origin, Accept');

describe.each(['utm_source=mail&utm_source=x', 'fbclid=x', 'gclid=%E4'])('with ?%s, which others add', (query) => {
  it.each([...NEGOTIATED, '/docs', '/console', '/auth/log-in', '/auth/register', '/auth/forgot', '/auth/code'])(
    '%s is the same',
    async (path) => {
      expect((await ask(`${path}?${query}`, 'text/html').expect(200)).headers['content-type']).toBe(HTML);
    },
  );

  it('/.well-known/change-password is the same, and a route of the API refuses it', async () => {
    await ask(`/.well-known/change-password?${query}`, 'text/html').expect(303);
    await ask(`/auth/session?${query}`, 'text/html').expect(400);
  });
});

describe.each(NEGOTIATED)('GET %s', (path) => {
  it.each([
    ...Object.values(BROWSER_ACCEPT),
    'text/html',
    'TEXT/HTML',
    'text/*',
    'text/html, application/json;q=0.9',
    'application/json;q=0.5, text/html;q=0.6',
    'application/json;q=0, */*',
  ])('is a page for a client that prefers HTML: %s', async (accept) => {
    const { text, headers } = await ask(path, accept).expect(200);
    expect(headers).toMatchObject({
      'content-type': HTML,
      'cache-control': 'public, max-age=300',
      'content-security-policy': pagePolicy(),
      vary: varyOf(path),
    });
    // Caches may store it.
    expect(headers).not.toHaveProperty('svc-request-id');
    expect(text).toMatch(/^<!doctype html>\n<html lang="en">/);
  });

  it.each([
    '',
    '*/*',
    'application/json',
    'application/json, text/plain, */*',
    'application/*',
    'text/html;q=0.5, application/json',
    'text/html;q=0, */*',
    'text/html;q=nonsense',
    'image/png',
    'nonsense',
    `text/html,${'a/b,'.repeat(1_000)}`,
  ])('is JSON for any other: %.40s', async (accept) => {
    const { body, headers } = await ask(path, accept).expect(200);
    expect(headers).toMatchObject({
      'content-type': JSON_TYPE,
      'cache-control': 'no-store',
      'svc-request-id': body.context.requestId,
      'content-security-policy': expect.stringMatching(/^default-src 'none'(?!.*'self')/),
      vary: varyOf(path),
    });
    expect(body.success).toBe(true);
  });

  it.each(['text/html', 'application/json'])(
    'has an ETag as %s, and 304 for who has it, whatever date is asked',
    async (accept) => {
      const { headers } = await ask(path, accept).expect(200);
      const again = await ask(path, accept).set('If-None-Match', String(headers.etag)).expect(304);
      expect(again.text).toBe('');
      expect(again.headers).toMatchObject({ etag: headers.etag, vary: varyOf(path) });
      expect(again.headers).not.toHaveProperty('content-type');
      await ask(path, accept).set('If-None-Match', '"another"').expect(200);
      for (const date of ['Thu, 01 Jan 1970 00:00:00 GMT', 'Fri, 01 Jan 2100 00:00:00 GMT', 'a date']) {
        const dated = () => ask(path, accept).set('If-Modified-Since', date);
        await dated().set('If-None-Match', String(headers.etag)).expect(304);
        await dated().set('If-None-Match', '"another"').expect(200);
        await dated().expect(200);
      }
    },
  );

  it('has another ETag as JSON than as a page', async () => {
    const [page, json] = [await ask(path, 'text/html'), await ask(path, '*/*')];
    expect(json.headers.etag).toMatch(/^W\/"/);
    expect(page.headers.etag).toMatch(/^"/);
    await ask(path, '*/*').set('If-None-Match', String(page.headers.etag)).expect(200);
    await ask(path, 'text/html').set('If-None-Match', String(json.headers.etag)).expect(200);
  });

  it.each(['text/html', '*/*'])('has the same headers with HEAD: %s', async (accept) => {
    const get = await ask(path, accept).expect(200);
    const response = await service.http.head(path).set('Accept', accept).expect(200);
    for (const name of ['content-type', 'etag', 'cache-control', 'vary', 'content-security-policy']) {
      expect(response.headers[name]).toBe(get.headers[name]);
    }
    expect(Number(response.headers['content-length'])).toBeGreaterThan(0);
    expect(response.text).toBeUndefined();
  });
});

describe.each(FAILURES)('GET %s', (path, status, code) => {
  it('is a page with the same status for a browser, which is not stored, and the envelope for a program', async () => {
    const { text, headers } = await ask(path, BROWSER_ACCEPT.Chromium).expect(status);
    expect(headers).toMatchObject({
      'content-type': HTML,
      'cache-control': 'no-store',
      'content-security-policy': pagePolicy(),
      vary: 'Origin, Sec-Fetch-Dest, Accept',
    });
    expect(headers).not.toHaveProperty('etag');
    expect(text).toContain(`/errors/${code}"`);
    expect(text).toContain(String(headers['svc-request-id']));
    const program = await ask(path, '*/*').expect(status);
    expect(program.headers).toMatchObject({ 'content-type': JSON_TYPE, vary: 'Origin, Sec-Fetch-Dest, Accept' });
    expect(program.body).toMatchObject({ success: false, code });
  });
});

it('a route without a page answers a browser with JSON, errors included', async () => {
  const live = await ask('/health/live', 'text/html').expect(200);
  expect(live.headers).toMatchObject({ 'content-type': JSON_TYPE, vary: 'Origin' });
  const me = await ask('/users/me', 'text/html').expect(401);
  expect(me.body).toMatchObject({ success: false, code: 'AUTH_TOKEN_MISSING' });
  expect(me.headers['content-security-policy']).not.toContain('self');
});

describe('the rate limit of a page', () => {
  it.each(['/', '/docs', '/errors'])(
    'is that of public routes, and says to a browser when to come back: %s',
    async (path) => {
      const limited = await start({ RATE_LIMITS: 'global=off,strict=off,public=1/60' });
      await limited.http.get(path).set('Accept', 'text/html').expect(200);
      const { text, headers } = await limited.http.get(path).set('Accept', 'text/html').expect(429);
      expect(headers['content-type']).toBe(HTML);
      expect(text).toContain(`Try again in ${headers['retry-after']} second`);
    },
  );
});
