import { beforeEach, describe, expect, it, vi } from 'vitest';
import {
  aClient,
  anAccessToken,
  BASE_URL,
  fakeFrame,
  fakePage,
  fakeTransport,
  LIFETIME,
  refusal,
  success,
} from '../support/client.ts';

const REFRESH = '/auth/refresh-token';
const LOGIN = '/auth/login';
const REGISTER = '/auth/register';
const ADA = { account: 'ada', password: 'correct horse' };
const NEW_ADA = { username: 'ada', email: 'ada@example.org', password: 'correct horse' };
const HOUR = 3_600_000;

beforeEach(() => {
  vi.useFakeTimers();
});

const seconds = (count: number) => vi.advanceTimersByTimeAsync(count * 1000);
/** As the service, which says that the session has the key that was proven. */
const answering = (data: object) => async (request: Request) => {
  const { proof } = JSON.parse((await request.clone().text()) || '{}');
  return success({ accessToken: anAccessToken(), ...data }, {}, proof && { deviceKey: true });
};
const renewed = answering({});
const loggedIn = answering({ user: {} });
const unproven = () => refusal('AUTH_DEVICE_UNPROVEN', 401);
/** The clock of the service is an hour ahead. */
const expired = () => refusal('AUTH_PROOF_EXPIRED', 401, { timestamp: new Date(Date.now() + HOUR).toISOString() });

type Setup = { readonly hint?: string; readonly answer?: Parameters<typeof fakeFrame>[1]; readonly isThere?: boolean };

/** A page with a frame that signs `proof 1`, `proof 2`, … */
const opened = (answers: Parameters<typeof fakeTransport>[0], { hint, answer, isThere }: Setup = {}) => {
  // On the host of the service the cookie is kept, so no renewal follows a log-in.
  const page = fakePage({ origin: BASE_URL, ...(hint !== undefined && { hint }) });
  let signed = 0;
  const sign = () => {
    signed += 1;
    return `proof ${signed}`;
  };
  const frame = fakeFrame(page, answer ?? sign, isThere);
  const { fetch, requests } = fakeTransport({
    [REFRESH]: [renewed],
    [LOGIN]: [loggedIn],
    [REGISTER]: [loggedIn],
    ...answers,
  });
  const auth = aClient({ fetch });
  /** The bodies of the requests so far; `null` without one. */
  const bodies = () => Promise.all(requests.map((request) => (request.body === null ? null : request.clone().json())));
  return { page, auth, requests, bodies, ...frame };
};

describe('a log-in and a registration', () => {
  it('have a key made, and send a proof of it', async () => {
    const { auth, asked, bodies, frames } = opened({});
    expect(auth.binding).toBe('none');
    await auth.login(ADA);
    expect(auth.binding).toBe('device');
    await auth.register(NEW_ADA);
    expect(await bodies()).toEqual([
      { ...ADA, proof: 'proof 1' },
      { ...NEW_ADA, proof: 'proof 2' },
    ]);
    const common = { create: true, again: false, origin: BASE_URL };
    expect(asked).toEqual([
      { path: LOGIN, ...common },
      { path: REGISTER, ...common },
    ]);
    expect([...frames]).toMatchObject([{ src: `${BASE_URL}/device-key`, style: { display: 'none' } }]);
  });

  it.each([
    [LOGIN, 'login', ADA],
    [REGISTER, 'register', NEW_ADA],
  ] as const)('with a wrong clock send another proof once, by that of the service: %s', async (path, call, input) => {
    const { auth, asked, bodies } = opened({ [path]: [expired, loggedIn] });
    await auth[call](input as typeof ADA & typeof NEW_ADA);
    expect(auth.binding).toBe('device');
    expect(asked).toMatchObject([{ again: false }, { again: true }]);
    expect(await bodies()).toMatchObject([{ proof: 'proof 1' }, { proof: 'proof 2' }]);
  });

  it.each([
    ['not valid', [unproven, loggedIn], 2],
    ['too old twice', [expired, expired, loggedIn], 3],
  ])('send none after a proof that was refused as %s', async (_title, answers, count) => {
    const { auth, bodies } = opened({ [LOGIN]: answers });
    await auth.login(ADA);
    expect(auth.binding).toBe('none');
    expect(await bodies()).toHaveLength(count);
    expect((await bodies()).at(-1)).toEqual(ADA);
  });

  it('are given up when their response does not end', async () => {
    const { auth } = opened({ [LOGIN]: [() => new Response(new ReadableStream())] });
    const code = auth.login(ADA).catch((error: { code: string }) => error.code);
    await seconds(41);
    expect(await code).toBe('CLIENT_NETWORK_TIMEOUT');
  });

  it('are refused for another reason as without a proof', async () => {
    const { auth, requests } = opened({ [LOGIN]: [() => refusal('AUTH_CREDENTIALS_INVALID', 401)] });
    await expect(auth.login(ADA)).rejects.toMatchObject({ code: 'AUTH_CREDENTIALS_INVALID' });
    expect(requests).toHaveLength(1);
  });
});

describe('a renewal', () => {
  it('sends a proof, and makes no key', async () => {
    const { auth, asked, bodies } = opened({}, { hint: '1' });
    await auth.ready;
    expect(auth.binding).toBe('device');
    expect(asked).toMatchObject([{ path: REFRESH, create: false, again: false }]);
    expect(await bodies()).toEqual([{ proof: 'proof 1' }]);
  });

  it('has no body without a key, and the frame is closed', async () => {
    const { auth, bodies, requests, frames } = opened({}, { hint: '1', answer: () => undefined });
    await auth.ready;
    expect(auth.binding).toBe('none');
    expect(await bodies()).toEqual([null]);
    expect(requests[0]?.headers.get('Content-Type')).toBeNull();
    expect(frames).toHaveLength(0);
  });

  it('with a wrong clock sends another proof at once, and is right from then on', async () => {
    const { auth, asked } = opened({ [REFRESH]: [expired, renewed] }, { hint: '1' });
    await auth.ready;
    await auth.refresh();
    expect(asked).toMatchObject([{ again: false }, { again: true }, { again: false }]);
    expect(auth.binding).toBe('device');
  });

  it('waits for the next second when other tabs have sent many proofs, and is tried again later if that does not help', async () => {
    const _random = vi.spyOn(Math, 'random').mockReturnValue(0);
    const { auth, requests } = opened({ [REFRESH]: [expired, expired, expired, expired, renewed] }, { hint: '1' });
    const code = auth.ready.catch((error: { code: string }) => error.code);
    await seconds(0.9);
    expect(requests).toHaveLength(2);
    await seconds(2.2);
    expect(requests).toHaveLength(4);
    expect(await code).toBe('AUTH_PROOF_EXPIRED');
    await seconds(2);
    expect(auth.user?.username).toBe('ada');
  });

  it('without a proof that is accepted is tried again with another one, and the user is out after three refusals', async () => {
    const { auth, bodies } = opened({ [REFRESH]: [renewed, unproven, unproven, renewed, unproven] }, { hint: '1' });
    await auth.ready;
    const changes: string[] = [];
    auth.onChange((_user, why) => changes.push(why));
    await seconds(LIFETIME);
    expect(changes).toEqual(['refresh']);
    await seconds(LIFETIME);
    expect(changes).toEqual(['refresh', 'ended']);
    expect(auth.binding).toBe('none');
    expect(await bodies()).toEqual([1, 2, 3, 4, 5, 6, 7].map((number) => ({ proof: `proof ${number}` })));
  });
});

describe('a renewal of a bound session, while the page of the key does not answer', () => {
  it.each([
    ['is not loaded', { isThere: false }, 3],
    ['is silent', { answer: 'silent' }, 3],
    ['cannot read its store', { answer: () => false }, 1],
  ] as const)('logs nobody out, and is tried again: %s', async (_title, setup, wait) => {
    const { auth, requests } = opened(
      { [REFRESH]: [unproven, unproven, unproven, unproven, renewed] },
      { hint: '1', ...setup },
    );
    const changes: string[] = [];
    auth.onChange((_user, why) => changes.push(why));
    const refused = auth.ready.catch((error: { code: string; retryable: boolean }) => error);
    await seconds(wait);
    expect(await refused).toMatchObject({ code: 'CLIENT_NETWORK_FAILED', retryable: true });
    expect([requests.length, changes]).toEqual([1, []]);
    await seconds(600);
    expect(changes).toEqual(['refresh']);
    expect(auth.user?.username).toBe('ada');
  });

  it('is out when the page says that there is no key', async () => {
    const { auth } = opened({ [REFRESH]: [unproven] }, { hint: '1', answer: () => undefined });
    const user = auth.ready;
    await seconds(10);
    expect(await user).toBeNull();
  });
});

describe('a page without a key', () => {
  it.each([
    ['no page of the service is loaded', { isThere: false }, 0.5],
    ['the page does not answer', { answer: 'silent' }, 2],
  ] as const)('is not held up for long when %s', async (_title, setup, wait) => {
    const { auth, bodies } = opened({}, setup);
    const user = auth.login(ADA);
    await seconds(wait - 0.1);
    expect(await bodies()).toEqual([]);
    await seconds(0.1);
    await user;
    expect(await bodies()).toEqual([ADA]);
    expect(auth.binding).toBe('none');
  });

  it('tries again the next time', async () => {
    let isStored = false;
    const { auth, bodies } = opened({}, { answer: () => (isStored ? 'a proof' : undefined) });
    await auth.login(ADA);
    isStored = true;
    await auth.login(ADA);
    expect(await bodies()).toEqual([ADA, { ...ADA, proof: 'a proof' }]);
  });
});

describe('how a session is bound', () => {
  it('is what the service says, also if it has got a proof', async () => {
    const unbound = () => success({ accessToken: anAccessToken() });
    const { auth, bodies } = opened({ [REFRESH]: [unbound] }, { hint: '1' });
    await auth.ready;
    expect(await bodies()).toEqual([{ proof: 'proof 1' }]);
    expect(auth.binding).toBe('none');
  });

  it('is told to other tabs with its token', async () => {
    const { auth, page } = opened({});
    await auth.login(ADA);
    expect(page.posted).toMatchObject([{ binding: 'device' }]);
    const news = { value: anAccessToken(), at: Date.now(), why: 'refresh' };
    page.hears({ ...news, binding: 'browser', own: 7 });
    expect(auth.binding).toBe('browser');
    page.hears({ ...news, own: 8 });
    expect(auth.binding).toBe('none');
  });

  it('stays when another session takes its place', async () => {
    const { auth } = opened({ '/users/me/password': [renewed] });
    await auth.login(ADA);
    await auth.changePassword({ currentPassword: ADA.password, newPassword: 'battery staple' });
    expect(auth.binding).toBe('device');
  });
});

describe('a request with a token that is bound to the key', () => {
  const API = `${BASE_URL}/users/me`;
  const bound = () => success({ accessToken: anAccessToken({ cnf: {} } as object), user: {} });
  const unproved = () =>
    refusal('AUTH_TOKEN_INVALID', 401, {}, { 'WWW-Authenticate': 'DPoP error="invalid_dpop_proof"' });
  const loggedIn = async (answers: Parameters<typeof opened>[0], setup: Setup = {}) => {
    const page = opened({ '/users/me': [() => success({})], ...answers, [LOGIN]: [bound] }, setup);
    await page.auth.login(ADA);
    page.asked.splice(0);
    page.requests.splice(0);
    return {
      ...page,
      sent: () => page.requests.map(({ url, headers }) => [new URL(url).pathname, headers.get('DPoP')]),
    };
  };

  it('has a proof for its method, address and token', async () => {
    const { auth, asked, requests, sent } = await loggedIn({});
    await auth.fetch(`${API}?a=b`, { method: 'PATCH', body: '{}' });
    const accessToken = await auth.accessToken();
    const use = { method: 'PATCH', url: `${API}?a=b`, accessToken };
    expect(asked).toMatchObject([{ create: false, again: false, use }]);
    expect(sent()).toEqual([['/users/me', 'proof 2']]);
    expect(requests[0]?.headers.get('Authorization')).toBe(`DPoP ${accessToken}`);
  });

  it('is sent again with another proof by the clock of the service, without a renewal', async () => {
    const { auth, asked, sent } = await loggedIn({ '/users/me': [unproved, () => success({})] });
    expect((await auth.fetch(API)).status).toBe(200);
    expect(asked).toMatchObject([{ again: false }, { again: true }]);
    expect(sent().map(([, proof]) => proof)).toEqual(['proof 2', 'proof 3']);
  });

  it('fails while the page of the key does not answer, and the session stays', async () => {
    let isThere = true;
    const { auth } = await loggedIn({}, { answer: () => isThere && 'a proof' });
    isThere = false;
    await expect(auth.fetch(API)).rejects.toMatchObject({ code: 'CLIENT_NETWORK_FAILED', retryable: true });
    expect(auth.user?.username).toBe('ada');
  });

  it('ends the session when the key is gone', async () => {
    let key: string | undefined = 'a proof';
    const answers = { '/users/me': [unproved], [REFRESH]: [unproven] };
    const { auth, sent } = await loggedIn(answers, { answer: () => key });
    key = undefined;
    const response = auth.fetch(API);
    await seconds(10);
    expect([(await response).status, auth.user, sent()[0]]).toEqual([401, null, ['/users/me', null]]);
  });
});

it('the frame is made anew after the page has removed it, and removed when the client is disposed of', async () => {
  const { auth, frames, bodies } = opened({});
  await auth.login(ADA);
  frames.clear();
  await auth.refresh();
  expect(frames).toHaveLength(1);
  expect(await bodies()).toMatchObject([{ proof: 'proof 1' }, { proof: 'proof 2' }]);
  auth.dispose();
  expect(frames).toHaveLength(0);
});
