import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { canBrowse } from '../support/browser/chromium.ts';
import { HONO, openRenderedPages, SVELTEKIT, showsAccount } from '../support/browser/rendered-pages.ts';

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
      const { username } = await loggedIn();
      const tab = await openTab();
      await tab.goto(`${world().pages}/login?to=${encodeURIComponent(to)}`);
      await tab.fill('[name=account]', username);
      await tab.fill('[name=password]', 'correct horse battery');
      await tab.getByRole('button', { name: 'Log in' }).click();
      await showsAccount(tab, username);
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
