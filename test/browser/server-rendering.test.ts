import { getRequestListener } from '@hono/node-server';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { createServerAuth } from '../../client/src/server.ts';
import { createApp } from '../../examples/hono/app.ts';
import { logOutAtService } from '../support/browser/at-service.ts';
import { canBrowse, openBrowser } from '../support/browser/chromium.ts';
import { HONO, logInAt, openRenderedPages, SVELTEKIT, showsAccount } from '../support/browser/rendered-pages.ts';
import { openSecureSite, RESOLVER_RULES } from '../support/browser/secure-site.ts';
import { aPerson, hasher, startService } from '../support/http/service.ts';

/** What the server renders for the browser of a tab, before any script of the page runs. */
const rendered = (tab: Page, path: string) =>
  tab.evaluate(async (at) => {
    const response = await fetch(at);
    return { status: response.status, html: await response.text() };
  }, path);

describe.runIf(canBrowse()).each([HONO, SVELTEKIT])('examples/$name', (example) => {
  const { world, expire, registered, loggedIn } = openRenderedPages(example);
  const itOfHono = it.runIf(example === HONO);
  /** The requests to the service that are not for a file. */
  const watching = () => {
    const { seen } = world().witness.watch();
    return () =>
      seen()
        .map(({ method, path }) => `${method} ${path.split('?')[0]}`)
        .filter((each) => each.includes('/auth/'));
  };

  it('sends a visitor to the log-in page, and back to the page that the visitor wanted', async () => {
    const { tab, username } = await loggedIn();
    expect(tab.url()).toBe(`${world().pages}/account?from=mail&tandem=logged-in`);
    const { status, html } = await rendered(tab, '/account');
    expect([status, html.includes(`Account of ${username}`)]).toEqual([200, true]);
    const cookies = await world().browser.cookies(world().pages);
    const cookie = cookies.find(({ name }) => name === 'access_token');
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Lax', path: '/', domain: 'localhost' });
    // The browser drops it with the token, which lives for 15 minutes.
    const left = Number(cookie?.expires) - Date.now() / 1000;
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThanOrEqual(900);
  });

  it('gets another access token when the old one has expired, and shows the page', async () => {
    const { tab, username } = await loggedIn();
    await expire();
    const asked = watching();
    const page = `${world().pages}/account?q=a%20b+c`;
    await tab.goto(page);
    await showsAccount(tab, username);
    expect(tab.url()).toBe(page);
    expect(asked()).toContain('GET /auth/continue');
    await expire();
    await tab.goto(world().pages);
    expect((await rendered(tab, '/')).html).toContain('Nobody is logged in.');
    await tab.getByRole('link', { name: 'Your account' }).click();
    await showsAccount(tab, username);
  });

  // Safari has no key of the device in a page of the service, but in one of an application.
  itOfHono.each(['Google Inc.', 'Apple Computer, Inc.'])(
    'keeps a form whose access token has expired, renews it, and sends it again, by %s',
    async (vendor) => {
      const { tab } = await loggedIn();
      await tab.addInitScript(`Object.defineProperty(navigator, 'vendor', { value: '${vendor}' })`);
      const note = tab.getByRole('textbox', { name: 'Note' });
      const text = '"<b>&amp;\n ä €';
      await note.fill(text);
      await expire();
      const answered = tab.waitForResponse((response) => response.request().method() === 'POST');
      await tab.getByRole('button', { name: 'Save' }).click();
      expect((await answered).status()).toBe(401);
      await tab.waitForURL(`${world().pages}/account`);
      expect(await note.inputValue()).toBe(text);
    },
  );

  it('knows nobody after a log-out', async () => {
    const { tab } = await registered();
    await tab.goto(`${world().pages}/account`);
    await tab.getByRole('link', { name: 'Log out' }).click();
    await logOutAtService(tab);
    await tab.getByText('Nobody is logged in.').waitFor();
    expect((await rendered(tab, '/')).html).toContain('Nobody is logged in.');
    expect((await rendered(tab, '/account')).status).toBe(401);
    await tab.goto(`${world().pages}/account`);
    await tab.waitForURL('**/auth/log-in?**');
  });
});

it.runIf(canBrowse())(
  'pages at a sibling host over https get the cookie of the domain, renew it, and know nobody after a log-out',
  async () => {
    const site = await openSecureSite();
    const service = await startService(
      { ...site.env, ACCESS_COOKIE: 'true', ACCESS_COOKIE_DOMAIN: 'example.test' },
      { hasher },
    );
    site.serve(service.url);
    const auth = createServerAuth({
      baseUrl: site.service,
      origin: site.application,
      cookieName: '__Secure-access_token',
      // Node does not know the names of the site.
      fetch: (input, init) => fetch(String(input).replace(site.service, service.url), init),
    });
    site.run(getRequestListener(createApp(auth).fetch));
    const { browser } = await openBrowser({ as: 'full', trusted: site.certificate, args: [RESOLVER_RULES] });
    const person = aPerson();
    await service.http.post('/auth/register').send(person).expect(201);

    const tab = await browser.newPage();
    await tab.goto(`${site.application}/account`);
    await logInAt(tab, person);
    const named = async () => (await browser.cookies()).find(({ name }) => name === '__Secure-access_token');
    const first = await named();
    expect(first).toMatchObject({ domain: '.example.test', path: '/', httpOnly: true, secure: true, sameSite: 'Lax' });
    expect((await browser.cookies(site.application)).map(({ name }) => name)).toEqual(['__Secure-access_token']);

    await browser.clearCookies({ name: '__Secure-access_token' });
    await tab.goto(`${site.application}/account?again`);
    await showsAccount(tab, person.username);
    expect((await named())?.value).not.toBe(first?.value);

    await tab.getByRole('link', { name: 'Log out' }).click();
    await logOutAtService(tab);
    await tab.getByText('Nobody is logged in.').waitFor();
    expect(await named()).toBeUndefined();
  },
);
