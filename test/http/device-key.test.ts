import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { readText } from '../support/checkout/repository.ts';
import { serviceStarter } from '../support/http/account.ts';
import type { TestService } from '../support/http/service.ts';

const PAGE = '/device-key';
const SCRIPT = '/device-key.js';
const APPS = ['https://app.example.com', 'https://shop.example.com'];
const start = serviceStarter();
const originsIn = (html: string) => /data-origins="([^"]*)"/.exec(html)?.[1];

describe.each([PAGE, SCRIPT])('GET %s', (path) => {
  let service: TestService;
  beforeAll(async () => {
    service = await start({ ALLOWED_ORIGINS_DEV: APPS.join(',') });
  });

  it('may be stored, and is not sent again to a cache that has it', async () => {
    const { headers } = await service.http.get(path).expect(200);
    expect(headers).toMatchObject({
      'cache-control': 'public, max-age=3600, stale-while-revalidate=86400, stale-if-error=86400',
      'x-content-type-options': 'nosniff',
    });
    const again = await service.http
      .get(path)
      .set('If-None-Match', headers.etag ?? '')
      .expect(304);
    expect(again.text).toBe('');
    expect(again.headers['content-security-policy']).toBe(headers['content-security-policy']);
  });
});

describe('the page that holds the key of a device', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await start({ ALLOWED_ORIGINS_DEV: APPS.join(',') });
  });

  it('is framed by the applications and the service alone, and runs nothing but the script in it', async () => {
    const { text, headers } = await service.http.get(PAGE).expect(200);
    const script = readText('client/dist/device-key.js');
    expect(text).toContain(`<script type="module">${script}</script>`);
    const hash = createHash('sha256').update(script).digest('base64');
    expect(headers['content-security-policy']?.split('; ').sort()).toEqual([
      ...["base-uri 'none'", "connect-src 'self'", "default-src 'none'", "form-action 'none'"],
      `frame-ancestors 'self' ${APPS.join(' ')}`,
      ...["require-trusted-types-for 'script'", `script-src 'sha256-${hash}'`, "trusted-types 'none'"],
    ]);
    expect(headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      // For applications that send the second themselves.
      'cross-origin-resource-policy': 'cross-origin',
      'cross-origin-embedder-policy': 'require-corp',
    });
  });

  it('answers the applications and the service', async () => {
    const { text } = await service.http.get(PAGE);
    expect(originsIn(text)).toBe(`self ${APPS.join(' ')}`);
  });

  it.each([{ DEVICE_BINDING: 'off' }, { JWT_REFRESH_COOKIE_SAME_SITE: 'none', JWT_REFRESH_COOKIE_SECURE: 'true' }])(
    'has a key for nobody with %o',
    async (env) => {
      const { http } = await start({ ALLOWED_ORIGINS_DEV: APPS.join(','), ...env } as Record<string, string>);
      const { text } = await http.get(PAGE).expect(200);
      expect(originsIn(text)).toBe('');
    },
  );
});

it('its script is a module for pages of the service, which no page of another origin may load', async () => {
  const { http } = await start();
  const { text, headers } = await http.get(SCRIPT).expect(200);
  expect(text).toBe(readText('client/dist/device-key.js'));
  expect(headers).toMatchObject({
    'content-type': 'text/javascript; charset=utf-8',
    'cross-origin-resource-policy': 'same-origin',
  });
});
