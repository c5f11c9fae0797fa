import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { aClient, anAccessToken, BASE_URL, fakePage, fakeTransport, refusal, success } from '../support/client.ts';

const REFRESH = '/auth/refresh-token';
const HINT = `tandem:${BASE_URL}`;
const APP = 'https://app.example.com';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const renewed = () => success({ accessToken: anAccessToken() });
const refused = () => refusal('AUTH_FAILED', 401);

/** A page whose address a page of the service has made, or somebody else. */
const opened = async (page: Parameters<typeof fakePage>[0], answer: () => Response) => {
  const host = fakePage(page);
  const { fetch, sent } = fakeTransport({ [REFRESH]: [answer] });
  const auth = aClient({ fetch });
  const changes: unknown[] = [];
  auth.onChange((user, why) => changes.push([user?.username ?? null, why]));
  await vi.advanceTimersByTimeAsync(10_000);
  return { ...host, changes, requests: sent().length, user: await auth.ready, auth };
};

describe('a page that a visitor comes back to', () => {
  it.each([
    ['/?tandem=logged-in', '/'],
    ['/notes?tab=a%20b+c&tandem=logged-in#top', '/notes?tab=a%20b+c#top'],
    ['/?tandem=logged-in#', '/#'],
    ['/?tandem=other', '/?tandem=other'],
    ['/?a=tandem&tandem=logged-in-or-not', '/?a=tandem&tandem=logged-in-or-not'],
  ])('at %s has the address %s', async (at, expected) => {
    const { location } = await opened({ at, hint: '1' }, renewed);
    expect(location.href).toBe(APP + expected);
    // What a router has stored there stays.
    if (at !== expected) expect(location).toMatchObject({ state: 'of the application' });
  });

  it('after a log-in has the user, of whom it had no hint, and tells the other tabs', async () => {
    const { user, changes, requests, posted, storage } = await opened({ at: '/?tandem=logged-in' }, renewed);
    expect(user?.username).toBe('ada');
    expect([changes, requests]).toEqual([[['ada', 'login']], 1]);
    expect(posted).toMatchObject([{ why: 'login' }]);
    expect(Number(storage.get(HINT))).toBeGreaterThan(0);
  });

  it('after a log-out has nobody, after one request, and tells the other tabs', async () => {
    const page = { at: '/?tandem=logged-out', hint: '1' };
    const { user, changes, requests, posted, storage } = await opened(page, refused);
    expect([user, changes, requests]).toEqual([null, [[null, 'logout']], 1]);
    expect(posted).toMatchObject([{ why: 'logout' }]);
    expect(Number(storage.get(HINT))).toBeLessThan(0);
  });

  it.each([
    ['a log-in that was none', 'logged-in', undefined, refused, null, []],
    ['a log-out of nobody', 'logged-out', undefined, refused, null, []],
    ['a log-out that was none', 'logged-out', '1', renewed, 'ada', [['ada', 'refresh']]],
  ] as const)('believes nothing that anybody can write: %s', async (_what, state, hint, answer, username, changes) => {
    const page = await opened({ at: `/?tandem=${state}`, ...(hint && { hint }) }, answer);
    expect([page.user?.username ?? null, page.changes]).toEqual([username, changes]);
  });

  it('from the back/forward cache asks whether the user is still there', async () => {
    const { happens, auth } = await opened({ hint: '1' }, renewed);
    const before = await auth.accessToken();
    happens('pageshow', { persisted: false });
    await vi.advanceTimersByTimeAsync(0);
    expect(await auth.accessToken()).toBe(before);
    happens('pageshow', { persisted: true });
    await vi.advanceTimersByTimeAsync(0);
    expect(await auth.accessToken()).not.toBe(before);
  });
});

describe('the way to a page of the service', () => {
  const at = '/notes?tab=1#top';
  it.each([
    [undefined, `${APP}/notes?tab=1#top`],
    [{}, `${APP}/notes?tab=1#top`],
    [{ to: '/start?a=b&c' }, `${APP}/start?a=b&c`],
    [{ to: new URL('https://other.example.com/x') }, 'https://other.example.com/x'],
  ])('leads back, for %j', async (options, to) => {
    const { visited, auth } = await opened({ at }, refused);
    const address = (page: string) => `${BASE_URL}/auth/${page}?to=${encodeURIComponent(to)}`;
    expect(auth.linkTo('account', options)).toBe(address('account'));
    auth.logInAt(options);
    expect(visited).toEqual([address('log-in')]);
  });

  it.each([
    [undefined, '', {}],
    [{ to: '/start', invitation: 'a-token' }, '', { to: `${APP}/start`, invitation: 'a-token' }],
    [{ link: true, errorTo: `${APP}/settings` }, '/link', { errorTo: `${APP}/settings` }],
  ] as const)('leads to a provider and back, for %j', async (options, path, given) => {
    const url = 'https://accounts.example/authorize?state=x';
    const { visited } = fakePage({ at });
    const { fetch, requests } = fakeTransport({ [`/auth/oidc/acme${path}`]: [() => success({ url })] });
    await aClient({ fetch }).logInWith('acme', options);
    const here = `${APP}/notes?tab=1#top`;
    expect(await requests.at(-1)?.json()).toEqual({ to: here, errorTo: here, ...given });
    expect(visited).toEqual([url]);
  });

  it.each(['/notes?tab=1&error=AUTH_IDENTITY_UNPROVEN#top', at])(
    'leads back without the error of an earlier one: %s',
    async (address) => {
      fakePage({ at: address });
      const { fetch, requests } = fakeTransport({
        '/auth/oidc/acme': [() => success({ url: 'https://accounts.example/' })],
      });
      await aClient({ fetch }).logInWith('acme');
      const here = `${APP}${at}`;
      expect(await requests.at(-1)?.json()).toEqual({ to: here, errorTo: here });
    },
  );

  it('stays on the page when the provider cannot be reached', async () => {
    const { visited } = fakePage({ at });
    const answers = { '/auth/oidc/acme': [() => refusal('SYS_PROVIDER_UNAVAILABLE', 503)] };
    const signIn = aClient({ fetch: fakeTransport(answers).fetch }).logInWith('acme');
    await expect(signIn).rejects.toMatchObject({ code: 'SYS_PROVIDER_UNAVAILABLE' });
    expect(visited).toEqual([]);
  });

  it('has no way back where there is no page', () => {
    const auth = aClient({ fetch: fakeTransport({}).fetch });
    expect(auth.linkTo('register')).toBe(`${BASE_URL}/auth/register`);
    expect(auth.linkTo('register', { to: APP })).toBe(`${BASE_URL}/auth/register?to=${encodeURIComponent(`${APP}/`)}`);
  });
});
