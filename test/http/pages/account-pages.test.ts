import { afterAll, describe, expect, it } from 'vitest';
import { memoryStorage } from '../../../src/adapters/records/memory.ts';
import { readText } from '../../support/checkout/repository.ts';
import { type Own, startService, type TestService } from '../../support/http/service.ts';

const PAGES = [
  'password-reset',
  'email-verification',
  'not-me',
  'email-change',
  'email-change-undo',
  'factors-undo',
].map((name) => `/account/${name}`);
const SCRIPT = '/account-page.js';

const services: TestService[] = [];
const start = async (env: Readonly<Record<string, string>> = {}, own: Own = {}): Promise<TestService> => {
  const service = await startService(env, { storage: memoryStorage(), ...own });
  services.push(service);
  return service;
};
afterAll(async () => {
  for (const service of services) await service.close();
});

describe('the pages for links in mail', () => {
  it.each(PAGES)(
    '%s may load nothing but files of the service, call nothing else, and make no markup from text',
    async (path) => {
      const { http } = await start();
      const { headers } = await http.get(path).expect(200);
      expect(headers['content-type']).toBe('text/html; charset=utf-8');
      expect(headers['referrer-policy']).toBe('no-referrer');
      expect(headers['content-security-policy']?.split('; ').sort()).toEqual([
        "base-uri 'none'",
        "connect-src 'self'",
        "default-src 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "img-src 'self'",
        "require-trusted-types-for 'script'",
        "script-src 'self'",
        "style-src 'self'",
        "trusted-types 'none'",
      ]);
      const again = await http
        .get(path)
        .set('If-None-Match', headers.etag ?? '')
        .expect(304);
      expect(again.headers['content-security-policy']).toBe(headers['content-security-policy']);
    },
  );

  it.each(PAGES)('%s is the same with any query, which some mail programs add', async (path) => {
    const { http } = await start();
    const { text } = await http.get(path).expect(200);
    expect((await http.get(`${path}?utm_source=mail&next=//evil.example&token=abc`).expect(200)).text).toBe(text);
    await http.post(path).send({}).expect(405);
  });

  it('mask the new password, which can be pasted and filled in', async () => {
    const { http } = await start();
    const { text: page } = await http.get('/account/password-reset').expect(200);
    const { text: script } = await http.get(SCRIPT).expect(200);
    const [field = ''] = /<input[^>]*name="newPassword"[^>]*>/.exec(page) ?? [];
    expect(field).toContain('type="password"');
    expect(field).toContain('autocomplete="new-password"');
    expect(page + script).not.toMatch(/paste|readonly/i);
  });

  it('have the script that was built', async () => {
    const { http } = await start();
    const { headers, text } = await http.get(SCRIPT).expect(200);
    expect(headers['content-type']).toBe('text/javascript; charset=utf-8');
    expect(text).toBe(readText('client/dist/account-page.js'));
  });

  it.each([
    ['links lead to pages of a front end', { ACCOUNT_PAGES_URL: 'https://app.example.org/account' }, {}],
    ['there is no mail', {}, { mailer: null }],
  ])('are not there when %s', async (_when, env, ports) => {
    const { http } = await start(env, ports);
    for (const path of [...PAGES, SCRIPT]) await http.get(path).expect(404);
  });
});
