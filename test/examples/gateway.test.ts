import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { readText } from '../support/checkout/repository.ts';
import { servicesOverOneDatabase, signUp } from '../support/http/auth-http.ts';
import { listenOnLoopback } from '../support/listen.ts';
import { canStartPgbouncer } from '../support/servers/of-the-tests.ts';
import { NGINX, nginxConfiguration, startProxy, withReplacements } from '../support/servers/proxies.ts';

const { start } = servicesOverOneDatabase();

/** Answers with the user that the gateway has named. */
const startApi = () =>
  listenOnLoopback(createServer((request, response) => response.end(String(request.headers['x-user-id']))));

describe.runIf(canStartPgbouncer())('nginx with examples/resource-server/nginx.conf', () => {
  it('names the user of a token, and refuses everybody else', async () => {
    const [service, api] = [await start(), await startApi()];
    const configured = ({ directory, port }: { readonly directory: string; readonly port: number }) => {
      const text = withReplacements(
        readText('examples/resource-server/nginx.conf'),
        [/\/dev\/shm\/tandem/, join(directory, 'cache')],
        [/server \{/, `server { listen 127.0.0.1:${port}; access_log off; location = /health/live { return 200; }`],
        [/http:\/\/127\.0\.0\.1:4000/, api.url],
        [/http:\/\/127\.0\.0\.1:3000/, service.url],
      );
      return nginxConfiguration(directory, text);
    };
    const url = await startProxy({ ...NGINX, configured }, []);
    const ask = async (headers: Record<string, string> = {}) => {
      const response = await fetch(`${url}/api/notes`, { headers });
      return { status: response.status, text: await response.text() };
    };
    const ada = await signUp(service);
    const bearer = { Authorization: `Bearer ${ada.accessToken}` };
    expect((await ask()).status).toBe(401);
    expect((await ask({ 'X-User-Id': ada.user.id })).status).toBe(401);
    expect(await ask({ ...bearer, 'X-User-Id': 'somebody else' })).toEqual({ status: 200, text: ada.user.id });
    await service.http.get('/auth/clear-cookie').set('Cookie', ada.cookie);
    await vi.waitFor(async () => expect((await ask(bearer)).status).toBe(401), { timeout: 20_000 });
  }, 120_000);
});
