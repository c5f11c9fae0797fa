// Proves theft-2
import { createServer } from 'node:http';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { createServerAuth } from '../../client/src/server.ts';
import { openApplications } from '../support/browser/applications.ts';
import { canBrowse } from '../support/browser/chromium.ts';
import { bindingIn, clientPage, fetchErrorIn, registeredIn, restoredIn } from '../support/browser/client-page.ts';
import { PARTIES } from '../support/browser/resource-server.ts';
import { listenOnLoopback } from '../support/listen.ts';

const CORS = {
  ...{ 'Access-Control-Allow-Origin': '*', 'Access-Control-Allow-Methods': 'GET, PUT' },
  ...{ 'Access-Control-Allow-Headers': 'Authorization, DPoP', 'Access-Control-Expose-Headers': 'WWW-Authenticate' },
};

describe.runIf(canBrowse())('auth.fetch with a token that is bound to the key', () => {
  const { world, openTab } = openApplications({ JWT_BINDING: 'on', ...PARTIES });

  /** An API that knows its callers by `createServerAuth`, and the schemes of the tokens that have reached it. */
  const seen: string[] = [];
  let api: Awaited<ReturnType<typeof listenOnLoopback>>;
  beforeAll(async () => {
    const server = createServer(async ({ method, url, headers: { host, authorization = '', dpop = '' } }, response) => {
      const withoutProofs = url === '/old' && { 'Access-Control-Allow-Headers': 'Authorization' };
      if (method === 'OPTIONS') return response.writeHead(204, { ...CORS, ...withoutProofs }).end();
      const credentials = { authorization, dpop: String(dpop) };
      seen.push(authorization.slice(0, 5));
      const user = await auth.requireUser(
        new Request(`http://${host}${url}`, { method: `${method}`, headers: credentials }),
      );
      if (!(user instanceof Response)) return response.writeHead(200, CORS).end(user.username);
      return response.writeHead(user.status, { ...CORS, ...Object.fromEntries(user.headers) }).end();
    });
    api = await listenOnLoopback(server);
    const auth = createServerAuth({
      ...{ baseUrl: world().service, issuer: PARTIES.JWT_ISSUER, audience: PARTIES.JWT_AUDIENCE, origin: api.url },
      // The browser alone knows the name of the service.
      fetch: () => fetch(`${world().behind.url}/.well-known/jwks.json`),
    });
  });

  const open = async (at: 0 | 1 = 0, clock = 0): Promise<Page> => {
    const tab = await openTab(world().apps[at], { clock });
    await tab.goto(world().apps[at].publish(clientPage(world().service, { clock, origins: [api.url] })));
    return tab;
  };
  /** On a busy machine the frame may be too late for a log-in, whose session has no key then. */
  const signedUp = async (): Promise<{ tab: Page; username: string }> => {
    await world().browser.clearCookies();
    seen.splice(0);
    const tab = await open();
    const { username } = await registeredIn(tab);
    return (await bindingIn(tab)) === 'device' ? { tab, username } : signedUp();
  };
  const fetchIn = (tab: Page, url: string, method = 'GET') =>
    tab.evaluate(
      async ([to = '', by = '']) => (await globalThis.page?.auth.fetch(to, { method: by }))?.text(),
      [url, method],
    );

  it('signs each request, in every tab and application, for the service as well as for others', async () => {
    const { tab, username } = await signedUp();
    expect(await fetchIn(tab, `${api.url}/notes?page=2`)).toBe(username);
    expect(await fetchIn(tab, `${api.url}/notes/%C3%A4%20b`, 'PUT')).toBe(username);
    const other = await open(1);
    expect(await restoredIn(other)).toBe(username);
    const many = Array.from({ length: 30 }, (_, at) => fetchIn(other, `${api.url}/notes/${at}`));
    expect(new Set(await Promise.all(many))).toEqual(new Set([username]));
    expect(seen).toEqual(Array(32).fill('DPoP '));
    expect(await fetchIn(tab, `${world().service}/users/me`)).toContain(username);
  });

  it('is right on a machine with a wrong clock, also in a frame that has yet to learn it', async () => {
    const { username } = await signedUp();
    const late = await open(0, 3_600_000);
    expect(await restoredIn(late)).toBe(username);
    await late.evaluate("document.querySelector('iframe').remove()");
    expect(await fetchIn(late, `${api.url}/notes`)).toBe(username);
    expect(await fetchIn(late, `${api.url}/notes`)).toBe(username);
    expect(seen).toHaveLength(3);
  });

  it('reads the store of the key once for many requests', async () => {
    const { tab, username } = await signedUp();
    await fetchIn(tab, `${api.url}/notes`);
    const frame = tab.frames().find((each) => each.url().endsWith('/device-key'));
    await frame?.evaluate("IDBFactory.prototype.open = () => { throw new Error('read again') }");
    expect(await fetchIn(tab, `${api.url}/notes`)).toBe(username);
    expect(seen).toEqual(['DPoP ', 'DPoP ']);
  });

  it('says that an API does not allow proofs', async () => {
    const { tab } = await signedUp();
    const { message } = (await fetchErrorIn(tab, `${api.url}/old`)) ?? {};
    expect(message).toMatch(/Allow it and Authorization, dpop by CORS\.$/);
  });
});
