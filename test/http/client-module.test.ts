import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readText } from '../support/checkout/repository.ts';
import { startService, type TestService } from '../support/http/service.ts';

const PATH = '/client.js';
const APP = 'https://app.example.com';

let service: TestService;
beforeAll(async () => {
  service = await startService({ ALLOWED_ORIGINS_DEV: APP });
});
afterAll(() => service.close());

describe('GET /client.js', () => {
  it('is the built client, as a module that any page may load and caches may store', async () => {
    const { text, headers } = await service.http.get(PATH).expect(200);
    expect(text).toBe(readText('client/dist/client.js'));
    expect(headers).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'public, max-age=300',
      'cross-origin-resource-policy': 'cross-origin',
      'x-content-type-options': 'nosniff',
    });
  });

  it.each(['/client-account.js', '/client-passkeys.js'])('has a further module at %s', async (path) => {
    const { text, headers } = await service.http.get(path).expect(200);
    expect(text).toBe(readText(`client/dist${path}`));
    expect(headers['content-type']).toBe('text/javascript; charset=utf-8');
  });

  it('is not sent again to a cache that has it', async () => {
    const { headers } = await service.http.get(PATH);
    const again = await service.http
      .get(PATH)
      .set('If-None-Match', headers.etag ?? '')
      .expect(304);
    expect(again.text).toBe('');
    expect(again.headers).toMatchObject({ etag: headers.etag, 'cache-control': 'public, max-age=300' });
    await service.http.get(PATH).set('If-None-Match', '"another"').expect(200);
  });

  it('may be imported by an allowed origin, and by no other', async () => {
    const allowed = await service.http.get(PATH).set('Origin', APP).expect(200);
    expect(allowed.headers['access-control-allow-origin']).toBe(APP);
    const other = await service.http.get(PATH).set('Origin', 'https://evil.example.com').expect(403);
    expect(other.headers).not.toHaveProperty('access-control-allow-origin');
  });
});
