// Proves ASVS 3.3.2, 3.3.4; script-1
import { describe, expect, it } from 'vitest';
import { canBrowse } from '../support/browser/chromium.ts';
import { openWorld, SITUATIONS, type Visitor } from '../support/browser/world.ts';

const REFRESH = '/auth/refresh-token';

/** The cookies of the browser for the service. */
const cookiesOf = async ({ browser }: Visitor) =>
  (await browser.cookies()).map(({ name, path, httpOnly, secure, sameSite }) => ({
    name,
    path,
    httpOnly,
    secure,
    sameSite,
  }));

const tokenOf = async ({ browser }: Visitor): Promise<string | undefined> =>
  (await browser.cookies()).find(({ name }) => name === 'refresh_token')?.value;

describe.runIf(canBrowse()).each(SITUATIONS)('$title', ({ host, env }) => {
  const { world, visit, signedUp } = openWorld(host, env);

  it('registers, logs in, refreshes, reads the current user and logs out', async () => {
    const visitor = await visit();
    const { person, post, get } = visitor;
    const registered = await post('/auth/register', person);
    expect(registered.status).toBe(201);
    const first = await tokenOf(visitor);

    expect((await post('/auth/login', { account: person.email, password: person.password })).status).toBe(200);
    const second = await tokenOf(visitor);

    const refreshed = await post(REFRESH);
    expect(refreshed.status).toBe(200);
    const third = await tokenOf(visitor);
    expect(new Set([undefined, first, second, third]).size).toBe(4);

    const me = await get('/users/me', { Authorization: `Bearer ${refreshed.body.data.accessToken}` });
    expect([me.status, me.body.data.id]).toEqual([200, registered.body.data.user.id]);

    expect((await get('/auth/clear-cookie')).status).toBe(200);
    expect(await cookiesOf(visitor)).toEqual([]);
    const after = await post(REFRESH);
    expect([after.status, after.body.code]).toEqual([401, 'AUTH_FAILED']);
  });

  it('has one cookie, with the configured attributes', async () => {
    const visitor = await signedUp();
    await visitor.post(REFRESH);
    const attributes =
      env.JWT_REFRESH_COOKIE_SAME_SITE === 'none'
        ? { secure: true, sameSite: 'None' }
        : { secure: false, sameSite: 'Lax' };
    expect(await cookiesOf(visitor)).toEqual([{ name: 'refresh_token', path: '/auth', httpOnly: true, ...attributes }]);
  });

  // The browser treats the two cookies alike in what follows.
  if (host !== 'localhost') return;

  it('cannot read the refresh token by script; neither can a page of the service or of a foreign site', async () => {
    const { tab, open, browser } = await signedUp();
    const ofTheService = await open(`${world().service}/auth/session`);
    const ofAnotherSite = await open(world().foreign.publish('<title>foreign</title>'));
    for (const page of [tab, ofTheService, ofAnotherSite]) {
      expect(new URL(page.url()).pathname).toMatch(/^\/auth\//);
      await page.evaluate('document.cookie = "readable=yes; path=/auth"');
      expect(await page.evaluate('document.cookie')).toBe('readable=yes');
      expect(await page.evaluate('cookieStore.getAll().then((all) => all.map(({ name }) => name))')).toEqual([
        'readable',
      ]);
    }
    expect((await browser.cookies()).map(({ name }) => name)).toContain('refresh_token');
  });
});
