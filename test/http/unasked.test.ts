// Proves website-2
import { describe, expect, it } from 'vitest';
import { ALL_ROUTES } from '../support/http/all-routes.ts';
import { refreshWith, servicesOverOneDatabase, signUp } from '../support/http/auth-http.ts';

const APPLICATION = 'https://app.example.org';
const NAVIGATION = { 'Sec-Fetch-Mode': 'navigate', 'Sec-Fetch-Dest': 'document', 'Sec-Fetch-Site': 'same-origin' };

const { start } = servicesOverOneDatabase();
const service = await start({
  ...ALL_ROUTES,
  ALLOWED_ORIGINS_DEV: APPLICATION,
  LOGIN_PAGE_URL: `${APPLICATION}/log-in`,
});

/** The ways to GET something that change cookies, with a query that each accepts. */
const CHANGING = { '/auth/clear-cookie': '', '/auth/continue': `?to=${encodeURIComponent(`${APPLICATION}/notes`)}` };

/** Begin a log-in at a provider, without one that answers here, and end it: app-login.test.ts, providers.test.ts. */
const OF_A_START = ['/auth/oidc/:provider', '/auth/oidc/:provider/callback'];

describe('the routes of GET that change something', () => {
  it('change nothing when nobody has asked for it, and work afterwards', async () => {
    const changing = service.routes.filter(({ method, cookie }) => method === 'GET' && cookie.writes !== undefined);
    expect(changing.map(({ path }) => path).toSorted()).toEqual([...Object.keys(CHANGING), ...OF_A_START]);
    for (const [path, query] of Object.entries(CHANGING)) {
      const { cookie } = await signUp(service);
      const send = (method: 'get' | 'head', headers: Record<string, string>) =>
        service.http[method](path + query).set({ ...NAVIGATION, ...headers, Cookie: cookie });
      const answers = [
        await send('head', {}),
        await send('get', { 'Sec-Purpose': 'prefetch' }),
        await send('get', { 'Sec-Purpose': 'prefetch;prerender' }),
        await send('get', { 'Sec-Purpose': 'prefetch;anonymous-client-ip' }),
        await send('get', { Purpose: 'prefetch' }),
        await send('get', { 'X-Purpose': 'preview' }),
        await send('get', { 'X-Moz': 'prefetch' }),
        await send('get', { 'Sec-Fetch-Mode': 'no-cors', 'Sec-Fetch-Dest': 'image' }),
        await send('get', { 'Sec-Fetch-Dest': 'iframe' }),
      ];
      for (const answer of answers) {
        // Not 2xx or 3xx, which browsers keep for the click.
        expect(answer.status).toBe(400);
        expect(answer.get('Set-Cookie')).toBeUndefined();
        expect(answer.get('Cache-Control')).toBe('no-store');
      }
      const asked = await send('get', {});
      expect([200, 303]).toContain(asked.status);
      expect(asked.get('Set-Cookie')?.join()).toContain('refresh_token=');
    }
  });

  it('log out for a script of a page, and for a page that a user goes to, and for nothing that a page embeds', async () => {
    const EMBEDDED = ['image', 'iframe', 'frame', 'script', 'style', 'video', 'object', 'embed', 'font', 'manifest'];
    for (const dest of [...EMBEDDED, 'empty', 'document']) {
      const { cookie } = await signUp(service);
      const [status, after] = EMBEDDED.includes(dest) ? [400, 200] : [200, 401];
      const headers = { 'Sec-Fetch-Site': 'same-site', 'Sec-Fetch-Dest': dest, Cookie: cookie };
      await service.http.get('/auth/clear-cookie').set(headers).expect(status);
      await refreshWith(service, cookie).expect(after);
    }
  });
});
