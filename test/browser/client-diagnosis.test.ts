import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { canBrowse } from '../support/browser/chromium.ts';
import { clientPage, fetchErrorIn, inlinePage, loginErrorIn, restoredIn } from '../support/browser/client-page.ts';
import { startResourceServer } from '../support/browser/resource-server.ts';
import { openWorld } from '../support/browser/world.ts';

const consoleOf = (tab: Page): readonly string[] => {
  const lines: string[] = [];
  tab.on('console', (line) => lines.push(line.text()));
  return lines;
};
const credentialsOf = ({ username, password }: { username: string; password: string }) => ({
  account: username,
  password,
});

describe.runIf(canBrowse())('the client', () => {
  const { world, visit, signedUp } = openWorld('localhost', {});

  describe('in a page of another origin', () => {
    it('is not given to it', async () => {
      const { open } = await visit();
      const site = await world().openSite('localhost');
      const tab = await open(site.publish(''));
      // As text: the test runner replaces `import` in code.
      const imported = `import('${world().service}/client.js').then(() => true, () => false)`;
      expect(await tab.evaluate(imported)).toBe(false);
    });

    it('says which setting is missing, in the error and in the console', async () => {
      const { open, person } = await visit();
      const site = await world().openSite('localhost');
      const tab = await open(site.publish(inlinePage(world().service)));
      await restoredIn(tab);
      const lines = consoleOf(tab);
      const error = await loginErrorIn(tab, credentialsOf(person));
      expect(error).toEqual({
        code: 'CLIENT_ORIGIN_REFUSED',
        message: `${world().service} refuses ${site.origin}. List the page in ALLOWED_ORIGINS_DEV or _PROD.`,
        retryable: false,
      });
      expect(lines).toContain(error?.message);
    });

    it('says first to use one site where the cookie would be dropped anyway', async () => {
      const { open, person } = await visit();
      const tab = await open(world().foreign.publish(inlinePage(world().service)));
      await restoredIn(tab);
      expect(await loginErrorIn(tab, credentialsOf(person))).toMatchObject({
        code: 'CLIENT_ORIGIN_REFUSED',
        message: expect.stringMatching(/Put both on one site: localhost and 127\.0\.0\.1 are two\. List the page in/),
      });
    });
  });

  describe('whose requests are traced', () => {
    const PATH = '/users/me';
    const refused = (names: string) => ({
      code: 'CLIENT_ORIGIN_REFUSED',
      message: `${world().service} refuses ${world().app.origin}. List the page in ALLOWED_ORIGINS_DEV or _PROD. List ${names} in ALLOWED_HEADERS.`,
      retryable: false,
    });

    it('says which headers a library adds to each request', async () => {
      const { open } = await visit();
      // As libraries do: they change what `fetch` is given.
      const tracing = `<script>
        const plain = globalThis.fetch;
        globalThis.fetch = (input, init = {}) => {
          init.headers = { ...Object.fromEntries(new Headers(init.headers ?? input.headers)), 'sentry-trace': '1-2', baggage: 'a=b' };
          return plain(input, init);
        };
      </script>`;
      const tab = await open(world().app.publish(tracing + clientPage(world().service)));
      await restoredIn(tab);
      expect(await fetchErrorIn(tab, world().service + PATH)).toEqual(refused('baggage, sentry-trace'));
    });
  });

  describe('whose request has no response', () => {
    /** A page of a user who is logged in, which sends its token to that origin, too. */
    const openFor = async (origin: string) => {
      const { open, tab: first } = await signedUp();
      await first.evaluate((name) => localStorage.setItem(name, '1'), `tandem:${world().service}`);
      const tab = await open(world().app.publish(clientPage(world().service, { origins: [origin] })));
      await restoredIn(tab);
      return { tab, lines: consoleOf(tab) };
    };

    it('says that an API does not allow the page by CORS', async () => {
      const { origin } = await world().openSite('localhost');
      const { tab, lines } = await openFor(origin);
      const error = await fetchErrorIn(tab, `${origin}/notes`, 'PUT');
      expect(error).toEqual({
        code: 'CLIENT_ORIGIN_REFUSED',
        message: `${origin} refuses ${world().app.origin}. Allow it and Authorization by CORS.`,
        retryable: false,
      });
      expect(lines).toContain(error?.message);
    });

    it.each(['the service', 'an API'])(
      'blames no setting for a lost request to %s, which allows the page',
      async (to) => {
        const api = await startResourceServer(world().service, world().app.origin);
        const { tab, lines } = await openFor(api.url);
        const url = to === 'an API' ? `${api.url}/notes` : `${world().service}/users/me`;
        await tab.route(url, (route) => route.abort('connectionreset'), { times: 1 });
        expect(await fetchErrorIn(tab, url)).toMatchObject({ code: 'CLIENT_NETWORK_FAILED', retryable: true });
        expect(lines).not.toContainEqual(expect.stringContaining('refuses'));
        await api.close();
      },
    );
  });

  describe('in a frame', () => {
    /** @returns the error of a log-in in a page of the application that a page of this site frames. */
    const framedBy = async (host: 'localhost' | '127.0.0.1') => {
      const { open, person } = await signedUp();
      const site = await world().openSite(host);
      const tab = await open(
        site.publish(`<iframe src="${world().app.publish(clientPage(world().service))}"></iframe>`),
      );
      const [, frame] = tab.frames();
      if (frame === undefined) throw new Error('there is no frame');
      await restoredIn(frame);
      return loginErrorIn(frame, credentialsOf(person));
    };

    it('of another site says at the log-in that no cookie is kept there', async () => {
      expect(await framedBy('127.0.0.1')).toMatchObject({
        code: 'CLIENT_COOKIE_BLOCKED',
        message: expect.stringContaining('outside of the frame'),
      });
    });

    it('of the same site logs in', async () => {
      expect(await framedBy('localhost')).toBeNull();
    });
  });
});

describe.runIf(canBrowse())('the client in a page on 127.0.0.1 with the service on localhost', () => {
  const { world, signedUp } = openWorld('127.0.0.1', {});

  it('says at the log-in that the browser keeps no cookie', async () => {
    const { open, person } = await signedUp();
    const tab = await open(world().app.publish(clientPage(world().service)));
    await restoredIn(tab);
    const lines = consoleOf(tab);
    const error = await loginErrorIn(tab, credentialsOf(person));
    expect(error).toEqual({
      code: 'CLIENT_COOKIE_BLOCKED',
      message: `The browser blocked the cookie of ${world().service}. Put both on one site: localhost and 127.0.0.1 are two.`,
      retryable: false,
    });
    expect(lines).toContain(error?.message);
  });
});

describe.runIf(canBrowse())('the client in a browser that blocks all cookies', () => {
  const { world, signedUp } = openWorld('localhost', {}, { as: 'full', cookies: 'blocked' });

  it('says so at the log-in', async () => {
    const { open, person } = await signedUp();
    const tab = await open(world().app.publish(clientPage(world().service)));
    expect(await restoredIn(tab)).toBeUndefined();
    const lines = consoleOf(tab);
    const error = await loginErrorIn(tab, credentialsOf(person));
    expect(error).toEqual({
      code: 'CLIENT_COOKIE_BLOCKED',
      message: `The browser blocked the cookie of ${world().service}. Allow cookies.`,
      retryable: false,
    });
    expect(lines).toContain(error?.message);
    expect(await tab.evaluate(() => globalThis.page?.auth.user)).toBeNull();
  });
});
