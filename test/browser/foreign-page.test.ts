// Proves ASVS 3.3.2, 3.5.1, 3.5.2; website-1, website-2, website-3, website-5
import { describe, expect, it } from 'vitest';
import { type Attack, JSON_LIKE_FORM, LOADS, NAVIGATIONS, POSTS, READS } from '../support/browser/attacks.ts';
import { canBrowse } from '../support/browser/chromium.ts';
import type { Seen } from '../support/browser/witness.ts';
import { openWorld, SITUATIONS } from '../support/browser/world.ts';

const CLEAR = '/auth/clear-cookie';
const REFRESH = '/auth/refresh-token';
const LOGIN = '/auth/login';

describe.runIf(canBrowse()).each(SITUATIONS)('a foreign page, with $title', ({ host, env }) => {
  const { world, signedUp } = openWorld(host, env);
  /** Whether the browser sends the cookie with every request. */
  const none = env.JWT_REFRESH_COOKIE_SAME_SITE === 'none';

  /** Opens the page as a logged-in user, and expects that the session is unchanged. @returns the requests of the page. */
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

  it.each(LOADS)('does not log out by $title', async (given) => {
    const status = given.embeds ? 400 : 200;
    expect(await attack(CLEAR, given)).toMatchObject({ method: 'GET', origin: undefined, cookie: none, status });
  });

  it.each(READS)('does not log out by $title, which is answered 403', async (given) => {
    const { origin } = world().foreign;
    expect(await attack(CLEAR, given)).toMatchObject({ method: 'GET', origin, cookie: none, status: 403 });
  });

  it.each(POSTS)('does not refresh by $title, which is answered 403', async (given) => {
    const sent = await attack(REFRESH, given);
    expect(sent).toMatchObject({ method: 'POST', cookie: none, status: 403 });
    expect([world().foreign.origin, 'null']).toContain(sent.origin);
  });

  it('cannot read a response', async () => {
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

  // What follows does not depend on the attributes of the cookie: the browser sends either, or the service does not read it.
  if (none) return;

  it.each(NAVIGATIONS)('does not log out by $title, although the cookie is sent', async (given) => {
    expect(await attack(CLEAR, given)).toMatchObject({ method: 'GET', origin: undefined, cookie: true, status: 200 });
  });

  it('does not log in as another user by a form that looks like JSON, which is answered 403', async () => {
    expect(await attack(LOGIN, JSON_LIKE_FORM)).toMatchObject({ method: 'POST', status: 403 });
  });

  it.each(['foreign', 'app'] as const)('does not log out by a redirect through the site %s', async (through) => {
    const { open, post } = await signedUp();
    const { sees } = world().witness.watch();
    const redirect = world()[through].redirect(world().service + CLEAR);
    const page = await open(world().foreign.publish(`<a href="${redirect}">a prize</a>`));
    await page.click('a');
    expect(await sees(CLEAR)).toMatchObject({ site: 'cross-site', cookie: true, status: 200, setsCookie: false });
    expect((await post(REFRESH)).status).toBe(200);
  });
});

describe.runIf(canBrowse())('a page of the same site', () => {
  const { world, signedUp } = openWorld('localhost', {});

  it.each(LOADS.filter(({ embeds }) => embeds))('does not log out by $title, with the cookie', async ({ html }) => {
    const { open, post } = await signedUp();
    const { sees } = world().witness.watch();
    await open(world().app.publish(html(world().service + CLEAR)));
    expect(await sees(CLEAR)).toMatchObject({ site: 'same-site', cookie: true, status: 400, setsCookie: false });
    expect((await post(REFRESH)).status).toBe(200);
  });

  it('logs out by a link when it belongs to the application', async () => {
    const { open, post, browser } = await signedUp();
    const { sees } = world().witness.watch();
    const page = await open(world().app.publish(`<a href="${world().service}${CLEAR}">log out</a>`));
    await page.click('a');
    expect(await sees(CLEAR)).toMatchObject({ site: 'same-site', cookie: true, status: 200, setsCookie: true });
    await page.waitForURL(world().service + CLEAR);
    expect(await browser.cookies()).toEqual([]);
    expect((await post(REFRESH)).body.code).toBe('AUTH_FAILED');
  });

  it('cannot read a response and does not refresh when its origin is not allowed', async () => {
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

  it('logs out when the user enters the address', async () => {
    const { open, browser } = await signedUp();
    await open(world().service + CLEAR);
    expect(await browser.cookies()).toEqual([]);
  });
});
