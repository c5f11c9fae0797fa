import { beforeEach, describe, expect, it, vi } from 'vitest';
import {
  aClient,
  anAccessToken,
  BASE_URL,
  fakeFrame,
  fakePage,
  fakeTransport,
  refusal,
  success,
} from '../support/client.ts';

const REFRESH = '/auth/refresh-token';
const HINT = `tandem:${BASE_URL}`;
const APP = 'https://app.example.com';

beforeEach(() => {
  vi.useFakeTimers();
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
    ['/notes?tab=1&tandem_code=a.b-c&tandem=logged-in#top', '/notes?tab=1#top'],
    ['/?tandem_code=&tandem=logged-in', '/'],
    ['/?tandem=%2Fauth%2Faccount#top', '/#top'],
    ['/?tandem=//evil.example', '/?tandem=//evil.example'],
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
    ['a log-out of nobody', 'logged-out', undefined, refused, null, []],
    ['a log-out that was none', 'logged-out', '1', renewed, 'ada', [['ada', 'refresh']]],
  ] as const)('believes nothing that anybody can write: %s', async (_what, state, hint, answer, username, changes) => {
    const page = await opened({ at: `/?tandem=${state}`, ...(hint && { hint }) }, answer);
    expect([page.user?.username ?? null, page.changes]).toEqual([username, changes]);
  });

  it('after a log-in whose cookie is not there, says why', async () => {
    const said = vi.spyOn(console, 'error').mockImplementation(() => undefined);
    const { fetch } = fakeTransport({ [REFRESH]: [refused] });
    fakePage({ at: '/?tandem=logged-in' });
    const auth = aClient({ fetch });
    const ready = auth.ready.catch((error: Error) => error);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await ready).toMatchObject({ code: 'CLIENT_COOKIE_BLOCKED', message: expect.stringContaining('one site') });
    expect(auth.user).toBeNull();
    expect(said).toHaveBeenCalledOnce();
  });

  it('after a log-in that was none has nobody, where the browser would have kept the cookie', async () => {
    const { user, changes } = await opened({ at: '/?tandem=logged-in', origin: BASE_URL }, refused);
    expect([user, changes]).toEqual([null, []]);
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

describe('a page that was led back to, with a code', () => {
  const cameBack = async (at: string, answer: () => Response = renewed, proof = 'a.proof') => {
    const page = fakePage({ at, hint: '1' });
    const { asked } = fakeFrame(page, () => proof || undefined);
    const { fetch, requests } = fakeTransport({ [REFRESH]: [answer] });
    const auth = aClient({ fetch });
    await vi.advanceTimersByTimeAsync(10_000);
    return { asked, visited: page.visited, user: await auth.ready, body: await requests[0]?.json().catch(() => null) };
  };

  it('sends the code with a proof of a key that is made for it, by the clock of the service', async () => {
    const { asked, body } = await cameBack('/?tandem_code=a.b-c&tandem=logged-in');
    expect(asked).toMatchObject([{ path: REFRESH, create: true, again: true }]);
    expect(body).toEqual({ proof: 'a.proof', bindingCode: 'a.b-c' });
  });

  it.each([
    ['/?tandem_code=&tandem=logged-in', 'a.proof', { proof: 'a.proof' }],
    ['/?tandem_code=a.b-c&tandem=logged-in', '', null],
  ])('sends no code that is not there, or without a proof: %s', async (at, proof, expected) => {
    expect((await cameBack(at, renewed, proof)).body).toEqual(expected);
  });

  it('does not blame the cookie where the key is missing', async () => {
    const other = () => refusal('AUTH_DEVICE_UNPROVEN', 401);
    expect((await cameBack('/?tandem_code=&tandem=logged-in', other)).user).toBeNull();
  });

  it('proves its key to a page of the service that asks for it, once the session is renewed', async () => {
    const { asked, visited } = await cameBack('/notes?tandem=%2Fauth%2Faccount#top');
    expect(asked).toMatchObject([{ path: REFRESH }, { path: '/auth/prove', create: false, again: true }]);
    expect(visited).toEqual([`${BASE_URL}/auth/prove?to=%2Fauth%2Faccount#proof=a.proof`]);
  });
});

describe('the way to a page of the service', () => {
  const at = '/notes?tab=1#top';
  const HERE = `${APP}${at}`;
  const AFTER_LOGIN = `${APP}/notes?tab=1&tandem_code=#top`;
  it.each([
    [undefined, 'https://app.example.com/notes?tab=1CODE#top'],
    [{}, 'https://app.example.com/notes?tab=1CODE#top'],
    [{ to: '/start?a=b&c' }, 'https://app.example.com/start?a=b&cCODE'],
    [{ to: new URL('https://other.example.com/?x') }, 'https://other.example.com/?xCODE'],
  ])('leads back, with a code after a log-in, for %j', async (options, to) => {
    const { visited, auth } = await opened({ at }, refused);
    const address = (page: string, code = '&tandem_code=') =>
      `${BASE_URL}/auth/${page}?to=${encodeURIComponent(to.replace('CODE', code))}`;
    expect(auth.linkTo('account', options)).toBe(address('account', ''));
    expect(auth.linkTo('register', options)).toBe(address('register'));
    auth.logInAt(options);
    expect(visited).toEqual([address('log-in')]);
  });

  it.each([
    [undefined, '', {}],
    [{ to: '/start', invitation: 'a-token' }, '', { to: `${APP}/start?tandem_code=`, invitation: 'a-token' }],
    [{ link: true, errorTo: `${APP}/settings` }, '/link', { to: HERE, errorTo: `${APP}/settings` }],
  ] as const)('leads to a provider and back, for %j', async (options, path, given) => {
    const url = 'https://accounts.example/authorize?state=x';
    const { visited } = fakePage({ at });
    const { fetch, requests } = fakeTransport({ [`/auth/oidc/acme${path}`]: [() => success({ url })] });
    await aClient({ fetch }).logInWith('acme', options);
    expect(await requests.at(-1)?.json()).toEqual({ to: AFTER_LOGIN, errorTo: HERE, ...given });
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
      expect(await requests.at(-1)?.json()).toEqual({ to: AFTER_LOGIN, errorTo: HERE });
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
