import { describe, expect, it } from 'vitest';
import { type Attack, JSON_LIKE_FORM, LOADING, NAVIGATING, POSTING, READING } from '../support/browser/attacks.ts';
import { canBrowse } from '../support/browser/chromium.ts';
import type { Seen } from '../support/browser/witness.ts';
import { openWorld, SITUATIONS } from '../support/browser/world.ts';

const CLEAR = '/auth/clear-cookie';
const REFRESH = '/auth/refresh-token';
const LOGIN = '/auth/login';

describe.runIf(canBrowse()).each(SITUATIONS)('a foreign page, to $title', ({ host, env }) => {
  const { world, signedUp } = openWorld(host, env);
  /** Whether the cookie comes along with whatever a browser sends. */
  const none = env.JWT_REFRESH_COOKIE_SAME_SITE === 'none';

  /** Has somebody who is logged in see the page. @returns what it sent, after the session has proved to be as it was. */
  const attack = async (path: string, { html, click }: Attack): Promise<Seen> => {
    const { open, post } = await signedUp();
    const { sees } = world().witness.watch();
    const page = await open(world().foreign.publish(html(world().service + path)));
    if (click) await page.click('a');
    const sent = await sees(path);
    expect(sent).toMatchObject({ site: 'cross-site', setsCookie: false });
    expect((await post(REFRESH)).status).toBe(200);
    return sent;
  };

  // Proves: website-2, asvs-3.5.1
  it.each(LOADING)('does not log out by $title', async (given) => {
    expect(await attack(CLEAR, given)).toMatchObject({ method: 'GET', origin: undefined, cookie: none, status: 200 });
  });

  // Proves: website-2, asvs-3.3.2
  it.each(NAVIGATING)('does not log out by $title, though the cookie comes along', async (given) => {
    expect(await attack(CLEAR, given)).toMatchObject({ method: 'GET', origin: undefined, cookie: true, status: 200 });
  });

  it.each(READING)('does not log out by $title, which is forbidden', async (given) => {
    const { origin } = world().foreign;
    expect(await attack(CLEAR, given)).toMatchObject({ method: 'GET', origin, cookie: none, status: 403 });
  });

  // Proves: website-1, asvs-3.5.1
  it.each(POSTING)('does not refresh by $title, which is forbidden', async (given) => {
    const sent = await attack(REFRESH, given);
    expect(sent).toMatchObject({ method: 'POST', cookie: none, status: 403 });
    expect([world().foreign.origin, 'null']).toContain(sent.origin);
  });

  // Proves: website-3, asvs-3.5.2
  it('does not log in as somebody else by a form that looks like JSON, which is forbidden', async () => {
    expect(await attack(LOGIN, JSON_LIKE_FORM)).toMatchObject({ method: 'POST', status: 403 });
  });

  // Proves: website-2
  it.each(['foreign', 'app'] as const)('does not log out by a redirect of the site %s', async (through) => {
    const { open, post } = await signedUp();
    const { sees } = world().witness.watch();
    const redirect = world()[through].redirect(world().service + CLEAR);
    const page = await open(world().foreign.publish(`<a href="${redirect}">a prize</a>`));
    await page.click('a');
    expect(await sees(CLEAR)).toMatchObject({ site: 'cross-site', cookie: true, status: 200, setsCookie: false });
    expect((await post(REFRESH)).status).toBe(200);
  });

  // Proves: website-5
  it('has no answer to read', async () => {
    const { open, post, get, person } = await signedUp();
    const page = await open(world().foreign.publish('<title>foreign</title>'));
    const { seen } = world().witness.watch();
    await expect(post(REFRESH, undefined, page)).rejects.toThrow('Failed to fetch');
    await expect(get('/auth/session', {}, page)).rejects.toThrow('Failed to fetch');
    await expect(get('/errors', {}, page)).rejects.toThrow('Failed to fetch');
    await expect(get('/users/me', { Authorization: 'Bearer none' }, page)).rejects.toThrow('Failed to fetch');
    await expect(post(LOGIN, { account: person.email, password: person.password }, page)).rejects.toThrow(
      'Failed to fetch',
    );
    expect(seen().map(({ method, path, status }) => [method, path, status])).toEqual([
      ['POST', REFRESH, 403],
      ['GET', '/auth/session', 403],
      ['GET', '/errors', 403],
      ['OPTIONS', '/users/me', 403],
      ['OPTIONS', LOGIN, 403],
    ]);
    expect(seen().filter(({ setsCookie }) => setsCookie)).toEqual([]);
    expect((await post(REFRESH)).status).toBe(200);
  });
});

describe.runIf(canBrowse())('a page of the same site', () => {
  const { world, signedUp } = openWorld('localhost', {});

  it('logs out by a link, when it is the application’s', async () => {
    const { open, post, browser } = await signedUp();
    const { sees } = world().witness.watch();
    const page = await open(world().app.publish(`<a href="${world().service}${CLEAR}">log out</a>`));
    await page.click('a');
    expect(await sees(CLEAR)).toMatchObject({ site: 'same-site', cookie: true, status: 200, setsCookie: true });
    await page.waitForURL(world().service + CLEAR);
    expect(await browser.cookies()).toEqual([]);
    expect((await post(REFRESH)).body.code).toBe('AUTH_FAILED');
  });

  it('has no answer to read and refreshes nothing, when its origin is not on the list', async () => {
    const { open, post } = await signedUp();
    const neighbour = await world().openSite('localhost');
    const page = await open(neighbour.publish('<title>neighbour</title>'));
    const { seen } = world().witness.watch();
    await expect(post(REFRESH, undefined, page)).rejects.toThrow('Failed to fetch');
    expect(seen()).toEqual([
      {
        method: 'POST',
        path: REFRESH,
        origin: neighbour.origin,
        site: 'same-site',
        cookie: true,
        status: 403,
        setsCookie: false,
      },
    ]);
    expect((await post(REFRESH)).status).toBe(200);
  });

  it('logs out when the visitor types the address', async () => {
    const { open, browser } = await signedUp();
    await open(world().service + CLEAR);
    expect(await browser.cookies()).toEqual([]);
  });
});
