import { describe, expect, it } from 'vitest';
import { readText } from '../support/checkout/repository.ts';
import { startService } from '../support/http/service.ts';

const PATH = '/client.js';
const APP = 'https://app.example.com';

const service = await startService({ ALLOWED_ORIGINS_DEV: APP });

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
});
