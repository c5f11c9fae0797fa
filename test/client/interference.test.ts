import { beforeEach, describe, expect, it, vi } from 'vitest';
import {
  aClient,
  anAccessToken,
  BASE_URL,
  fakePage,
  fakeTransport,
  LIFETIME,
  refusal,
  success,
} from '../support/client.ts';

const REFRESH = '/auth/refresh-token';
const LOGIN = '/auth/login';
const API = '/api';

beforeEach(() => {
  vi.useFakeTimers();
});

const seconds = (count: number) => vi.advanceTimersByTimeAsync(count * 1000);
const renewedAs = (username: string) => () => success({ accessToken: anAccessToken({ username }) });
const ok = () => success({});
const unavailable = (headers: Record<string, string>) => () => refusal('SYS_HTTP_UNEXPECTED_ERROR', 503, {}, headers);

/** A page in which ada is logged in. */
const adasPage = async (answers: Parameters<typeof fakeTransport>[0] = {}, options = {}) => {
  const page = fakePage({ hint: '1' });
  const transport = fakeTransport({ [REFRESH]: [renewedAs('ada')], [API]: [ok], ...answers });
  const auth = aClient({ fetch: transport.fetch, ...options });
  const changes: unknown[] = [];
  auth.onChange((user, why) => changes.push([user?.username ?? null, why]));
  await auth.ready;
  changes.splice(0);
  return { ...transport, page, auth, changes };
};

describe('a client that is disposed of', () => {
  it('does not come back when the renewal that was under way fails', async () => {
    const answer = Promise.withResolvers<Response>();
    const { auth, page, sent } = await adasPage({ [REFRESH]: [renewedAs('ada'), () => answer.promise] });
    const renewing = auth.refresh().catch(() => undefined);
    auth.dispose();
    answer.resolve(unavailable({})());
    await renewing;
    await seconds(3600);
    expect(sent()).toEqual([`POST ${REFRESH}`, `POST ${REFRESH}`]);
    expect(page.channels.size).toBe(0);
  });

  it('does not come back when the log-in that was under way succeeds', async () => {
    const { auth, page, sent } = await adasPage({
      [LOGIN]: [() => success({ accessToken: anAccessToken(), user: {} })],
    });
    const login = auth.login({ account: 'ada', password: 'correct horse' });
    auth.dispose();
    await login;
    const before = sent();
    await seconds(2 * LIFETIME);
    expect(sent()).toEqual(before);
    expect(page.channels.size).toBe(0);
  });
});

it('a page that was frozen for an hour in the middle of a renewal tries again soon when it is refused, since another tab was faster', async () => {
  let frozenFor = 0;
  const now = performance.now.bind(performance);
  vi.spyOn(performance, 'now').mockImplementation(() => now() + frozenFor);
  const refused = () => {
    frozenFor = 3_600_000;
    return refusal('AUTH_FAILED', 401);
  };
  const { auth, changes } = await adasPage({ [REFRESH]: [renewedAs('ada'), refused, renewedAs('ada')] });
  auth.refresh();
  await seconds(20);
  expect(changes).toEqual([['ada', 'refresh']]);
});

describe('a service that says when to come back', () => {
  it.each(['99999999', '-1', '0.001', 'Infinity', '1e999', 'Fri, 31 Dec 1999 23:59:59 GMT'])(
    'with Retry-After: %s is not asked again and again',
    async (value) => {
      const { sent } = await adasPage({ [REFRESH]: [renewedAs('ada'), unavailable({ 'Retry-After': value })] });
      await seconds(LIFETIME - 60);
      const before = sent().length;
      await seconds(60);
      expect(sent().length - before).toBeLessThanOrEqual(61);
    },
  );
});

describe('a message to the tabs that this version has not sent', () => {
  it.each([
    ['of a version without a generation', { value: 'token', why: 'refresh' }],
    ['with a generation that is no number', { value: 'token', own: 'newest', why: 'refresh' }],
    ['with a token that is none', { value: 'token', own: 1e6, why: 'refresh' }],
  ])('%s does not disturb: later messages count, earlier ones do not', async (_title, message) => {
    const { page, auth, changes } = await adasPage();
    try {
      page.hears(message);
    } catch {
      // The browser would report it, and go on.
    }
    expect(auth.user?.username).toBe('ada');
    page.hears({ value: anAccessToken({ username: 'eve' }), own: 1, why: 'login' });
    page.hears({ value: anAccessToken({ username: 'bob' }), own: 3, why: 'login' });
    expect(changes).toEqual([['bob', 'login']]);
    page.hears({ why: 'logout', own: 4 });
    expect(auth.user).toBeNull();
  });
});

describe('another user who has logged in elsewhere', () => {
  const bearers = (requests: readonly Request[]) =>
    requests.filter(({ url }) => url.endsWith(API)).map(({ headers }) => headers.get('Authorization'));
  const refused = () => refusal('AUTH_TOKEN_INVALID', 401);

  it('does not send what was asked for before, and is reported as a log-in', async () => {
    const { auth, requests, page, changes } = await adasPage({ [REFRESH]: [renewedAs('ada'), renewedAs('bob')] });
    page.document.hidden = true;
    await seconds(LIFETIME);
    await auth.fetch(`${BASE_URL}${API}`, { method: 'POST', body: 'of ada' });
    expect(bearers(requests)).toEqual([null]);
    expect(changes).toEqual([['bob', 'login']]);
    await auth.fetch(`${BASE_URL}${API}`);
    expect(bearers(requests)[1]).toMatch(/^Bearer /);
  });

  it('does not repeat a request that was refused', async () => {
    const { auth, requests } = await adasPage({ [REFRESH]: [renewedAs('ada'), renewedAs('bob')], [API]: [refused] });
    await auth.fetch(`${BASE_URL}${API}`, { method: 'POST', body: 'of ada' });
    expect(bearers(requests)).toEqual([expect.stringMatching(/^Bearer /), null]);
  });

  it('does not get the request that it has not sent, when an API of the page answers 401', async () => {
    const { auth, requests, page } = await adasPage(
      { [REFRESH]: [renewedAs('ada'), renewedAs('bob')], [API]: [() => new Response(null, { status: 401 })] },
      { origins: ['https://api.example.com'] },
    );
    page.document.hidden = true;
    await seconds(LIFETIME);
    await auth.fetch(`https://api.example.com${API}`, { method: 'POST', body: 'of ada' });
    expect(auth.user?.username).toBe('bob');
    expect(new Set(bearers(requests))).toEqual(new Set([null]));
  });

  it('is noticed by a page that was in the back/forward cache meanwhile', async () => {
    const { auth, page } = await adasPage({ [REFRESH]: [renewedAs('ada'), renewedAs('bob')] });
    page.happens('pagehide');
    page.storage.set(`tandem:${BASE_URL}`, '9');
    page.happens('pageshow');
    await seconds(0);
    expect(auth.user?.username).toBe('bob');
  });
});

it('a page that is seen again sends nothing when it has heard all news', async () => {
  const { page, sent } = await adasPage();
  page.storage.set(`tandem:${BASE_URL}`, '3');
  page.hears({ value: anAccessToken(), own: 3, at: Date.now(), why: 'refresh' });
  page.happens('visibilitychange');
  await seconds(0);
  expect(sent()).toEqual([`POST ${REFRESH}`]);
});
