// Proves theft-2
import { createServer } from 'node:http';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createServerAuth } from '../../client/src/server.ts';
import { openApplications } from '../support/browser/applications.ts';
import { canBrowse } from '../support/browser/chromium.ts';
import { importing, registeredIn, restoredIn } from '../support/browser/client-page.ts';
import { listenOnLoopback } from '../support/listen.ts';

const PARTIES = { JWT_ISSUER: 'https://auth.example.com', JWT_AUDIENCE: 'https://api.example.com' };
const HOUR = 3_600_000;

type Asked = { readonly method: string; readonly url: string; readonly headers: Record<string, string> };

describe.runIf(canBrowse())('auth.fetch with a token that is bound to the key', () => {
  const { world, openTab } = openApplications({ JWT_BINDING: 'on', ...PARTIES });

  /** An API for pages of other origins, which knows its callers by `createServerAuth`. It remembers what has reached it. */
  const asked: Asked[] = [];
  let api = { url: '', close: async () => {} };
  beforeAll(async () => {
    const auth = createServerAuth({
      ...{ baseUrl: world().service, issuer: PARTIES.JWT_ISSUER, audience: PARTIES.JWT_AUDIENCE },
      // The name of the service is known to the browser alone.
      fetch: () => fetch(`${world().behind.url}/.well-known/jwks.json`),
    });
    const server = createServer(async ({ method = '', url = '', headers }, response) => {
      response.setHeader('Access-Control-Allow-Origin', headers.origin ?? '*');
      response.setHeader('Access-Control-Allow-Methods', 'GET, PUT');
      response.setHeader('Access-Control-Allow-Headers', 'Authorization, DPoP');
      response.setHeader('Access-Control-Expose-Headers', 'WWW-Authenticate');
      if (method === 'OPTIONS') return response.writeHead(204).end();
      const sent = { method, url, headers: headers as Record<string, string> };
      asked.push(sent);
      const { host, authorization = '', dpop = '' } = sent.headers;
      const request = new Request(`http://${host}${url}`, { method, headers: { authorization, dpop } });
      const user = await auth.requireUser(request);
      if (!(user instanceof Response)) return response.end(user.username);
      return response.writeHead(user.status, Object.fromEntries(user.headers)).end();
    });
    api = await listenOnLoopback(server);
  });
  afterAll(() => api.close());

  const open = async (clock = 0, at = 0): Promise<Page> => {
    const site = world().apps[at] ?? expect.unreachable();
    const tab = await openTab(site, { clock });
    await tab.goto(site.publish(importing(world().service, { clock, origins: [api.url] })));
    return tab;
  };
  const fetchIn = (tab: Page, url: string, method = 'GET') =>
    tab.evaluate(
      async ([to = '', by = '']) => {
        const response = await globalThis.page?.auth.fetch(to, { method: by });
        return [response?.status, await response?.text()];
      },
      [url, method],
    );
  const schemes = () => asked.splice(0).map(({ headers }) => headers.authorization?.split(' ')[0]);

  it('signs each request, in every tab and application, for the service as well as for others', async () => {
    await world().browser.clearCookies();
    const tab = await open();
    const { username } = await registeredIn(tab);
    expect(await fetchIn(tab, `${api.url}/notes?page=2`)).toEqual([200, username]);
    expect(await fetchIn(tab, `${api.url}/notes/%C3%A4%20b`, 'PUT')).toEqual([200, username]);
    const other = await open(0, 1);
    expect(await restoredIn(other)).toBe(username);
    const many = Array.from({ length: 30 }, (_, at) => fetchIn(other, `${api.url}/notes/${at}`));
    expect(new Set((await Promise.all(many)).map(String))).toEqual(new Set([`200,${username}`]));
    expect(schemes()).toEqual(Array(32).fill('DPoP'));
    expect((await fetchIn(tab, `${world().service}/users/me`))[0]).toBe(200);
    expect(await tab.evaluate(() => globalThis.page?.auth.sessions.list())).toMatchObject([{ binding: 'device' }]);
  });

  it('is right on a machine with a wrong clock', async () => {
    await world().browser.clearCookies();
    await registeredIn(await open());
    const late = await open(HOUR);
    const username = await restoredIn(late);
    expect(await fetchIn(late, `${api.url}/notes`)).toEqual([200, username]);
    // A page that has not renewed does not know that it is wrong.
    await late.evaluate("document.querySelector('iframe').remove()");
    expect(await fetchIn(late, `${api.url}/notes`)).toEqual([200, username]);
    expect(schemes()).toEqual(['DPoP', 'DPoP', 'DPoP']);
  });

  it('leaves a thief with a token that is worth nothing', async () => {
    await world().browser.clearCookies();
    const tab = await open();
    await registeredIn(tab);
    await fetchIn(tab, `${api.url}/notes`);
    const [{ headers }] = asked.splice(0) as [Asked];
    const token = headers.authorization?.replace('DPoP ', '');
    const statusAt = async (url: string, sent: Record<string, string>, method = 'GET') =>
      (await fetch(url, { method, headers: sent })).status;
    const copied = { Authorization: `DPoP ${token}`, DPoP: headers.dpop ?? '' };
    for (const [path, sent, method] of [
      ['/notes', { Authorization: `Bearer ${token}` }, 'GET'],
      ['/notes', { Authorization: `DPoP ${token}` }, 'GET'],
      ['/notes/1', copied, 'GET'],
      ['/notes', copied, 'PUT'],
    ] as const) {
      expect([path, method, await statusAt(api.url + path, sent, method)]).toEqual([path, method, 401]);
    }
    expect(await statusAt(`${world().behind.url}/users/me`, copied)).toBe(401);
    onTestFinished(() => void asked.splice(0));
  });
});
