import { getRequestListener } from '@hono/node-server';
import type { Page } from 'playwright-core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createServerAuth } from '../../client/src/server.ts';
import { createApp } from '../../examples/hono/app.ts';
import { bcryptPasswordHasher } from '../../src/adapters/password-hasher/bcrypt.ts';
import { canBrowse, launchChromium } from '../support/browser/chromium.ts';
import { HONO, openRenderedPages, SVELTEKIT, showsAccount } from '../support/browser/rendered-pages.ts';
import { openSecureSite, RESOLVING } from '../support/browser/secure-site.ts';
import { aPerson, startService } from '../support/http/service.ts';

/** What the server renders for the browser of a tab, before any script of the page runs. */
const rendered = (tab: Page, path: string) =>
  tab.evaluate(async (at) => {
    const response = await fetch(at);
    return { status: response.status, html: await response.text() };
  }, path);

describe.runIf(canBrowse()).each([HONO, SVELTEKIT])('examples/$name', (example) => {
  const { world, openTab, expire, loggedIn } = openRenderedPages(example);
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
    expect(tab.url()).toBe(`${world().pages}/account?from=mail`);
    const { status, html } = await rendered(tab, '/account');
    expect([status, html.includes(`Account of ${username}`)]).toEqual([200, true]);
    const cookies = await world().browser.cookies(world().pages);
    expect(cookies.find(({ name }) => name === 'access_token')).toMatchObject({
      ...{ httpOnly: true, sameSite: 'Lax', path: '/', domain: 'localhost' },
    });
  });

  it('renders for the user after a reload, without the service', async () => {
    const { tab, username } = await loggedIn();
    const asked = watching();
    await tab.reload();
    await showsAccount(tab, username);
    await tab.goto(world().pages);
    expect((await rendered(tab, '/')).html).toContain(`Logged in as ${username}.`);
    expect(asked()).toEqual([]);
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

  it('answers 401 to a script whose access token has expired', async () => {
    const { tab } = await loggedIn();
    await expire();
    expect((await rendered(tab, '/account')).status).toBe(401);
  });

  it('knows nobody after a log-out', async () => {
    const { tab } = await loggedIn();
    await tab.getByRole('button', { name: 'Log out' }).click();
    await tab.getByText('Nobody is logged in.').waitFor();
    expect((await rendered(tab, '/')).html).toContain('Nobody is logged in.');
    expect((await rendered(tab, '/account')).status).toBe(401);
    await tab.goto(`${world().pages}/account`);
    await tab.getByRole('heading', { name: 'Log in' }).waitFor();
  });

  it.each(['https://evil.example/', '//evil.example', 'javascript:alert(1)', 'https://'])(
    'does not leave the site after a log-in when the address of the form says %s',
    async (to) => {
      const person = aPerson();
      const { behind, pages } = world();
      await behind.http.post('/auth/register').send(person).expect(201);
      const tab = await openTab();
      await tab.goto(`${pages}/login?to=${encodeURIComponent(to)}`);
      await tab.fill('[name=account]', person.username);
      await tab.fill('[name=password]', person.password);
      await tab.getByRole('button', { name: 'Log in' }).click();
      await showsAccount(tab, person.username);
    },
  );
});

describe.runIf(canBrowse())('an access token of two seconds', () => {
  const { world, loggedIn } = openRenderedPages(HONO, { JWT_ACCESS_EXPIRES_IN: '2s' });

  it('is gone in the browser when it expires, and the next page gets another one', async () => {
    const { tab, username } = await loggedIn();
    const { browser, pages } = world();
    const names = async () => (await browser.cookies(pages)).map(({ name }) => name);
    await expect.poll(names).not.toContain('access_token');
    await tab.reload();
    await showsAccount(tab, username);
  });
});

describe.runIf(canBrowse())('pages at a sibling host over https', () => {
  it('get the cookie of the domain, renew it, and know nobody after a log-out', async () => {
    const site = await openSecureSite();
    onTestFinished(site.close);
    const service = await startService(
      {
        ...site.env,
        ACCESS_COOKIE: 'true',
        ACCESS_COOKIE_DOMAIN: 'example.test',
        LOGIN_PAGE_URL: `${site.application}/login`,
      },
      { hasher: bcryptPasswordHasher({ cost: 4 }) },
    );
    onTestFinished(service.close);
    site.serve(service.url);
    const auth = createServerAuth({
      baseUrl: site.service,
      origin: site.application,
      cookieName: '__Secure-access_token',
      // Node does not know the names of the site.
      fetch: (input, init) => fetch(String(input).replace(site.service, service.url), init),
    });
    site.run(getRequestListener(createApp(auth, site.service).fetch));
    const { browser, close } = await launchChromium({ as: 'full', trusted: site.certificate, args: [RESOLVING] });
    onTestFinished(close);
    const person = aPerson();
    await service.http.post('/auth/register').send(person).expect(201);

    const tab = await browser.newPage();
    await tab.goto(`${site.application}/account`);
    await tab.fill('[name=account]', person.username);
    await tab.fill('[name=password]', person.password);
    await tab.getByRole('button', { name: 'Log in' }).click();
    await showsAccount(tab, person.username);
    const named = async () => (await browser.cookies()).find(({ name }) => name === '__Secure-access_token');
    const first = await named();
    expect(first).toMatchObject({ domain: '.example.test', path: '/', httpOnly: true, secure: true, sameSite: 'Lax' });
    expect((await browser.cookies(site.application)).map(({ name }) => name)).toEqual(['__Secure-access_token']);

    await browser.clearCookies({ name: '__Secure-access_token' });
    await tab.goto(`${site.application}/account?again`);
    await showsAccount(tab, person.username);
    expect((await named())?.value).not.toBe(first?.value);

    await tab.getByRole('button', { name: 'Log out' }).click();
    await tab.getByText('Nobody is logged in.').waitFor();
    expect(await named()).toBeUndefined();
  });
});
