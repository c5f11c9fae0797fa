// Proves ASVS 14.3.3; bcp-12
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { createAccountClient } from '../../client/src/account.ts';
import { type AuthClient, AuthError, createAuthClient } from '../../client/src/index.ts';
import { duplicateUser, FIELD_CODES } from '../../src/domain/errors/app-error.ts';
import { CATALOG } from '../../src/domain/errors/catalog.ts';
import {
  aClient,
  anAccessToken,
  BASE_URL,
  fakePage,
  fakeTransport,
  LIFETIME,
  refusal,
  SID,
  success,
} from '../support/client.ts';

const REFRESH = '/auth/refresh-token';
const LOGIN = '/auth/login';
const ME = '/users/me';
const ADA = { account: 'ada', password: 'correct horse' };

beforeEach(() => {
  vi.useFakeTimers();
});

const renewed = () => success({ accessToken: anAccessToken() });
const loggedIn = () => success({ accessToken: anAccessToken(), user: {} });
const refused = () => refusal('AUTH_FAILED', 401);
const offline = (): never => {
  throw new TypeError('fetch failed');
};
const ok = () => success({});
const seconds = (count: number) => vi.advanceTimersByTimeAsync(count * 1000);
/** The error of a rejected promise, while timers run. */
const errorOf = async (promise: Promise<unknown>): Promise<AuthError> => {
  const error = promise.then(
    () => null,
    (reason: unknown) => reason,
  );
  await seconds(60);
  expect(await error).toBeInstanceOf(AuthError);
  return (await error) as AuthError;
};
const bearer = ({ headers }: Request) => headers.get('Authorization');

/** A page that opens. */
const opening = (
  answers: Parameters<typeof fakeTransport>[0],
  given: Parameters<typeof fakePage>[0] = {},
  options = {},
) => {
  const [page, transport] = [fakePage(given), fakeTransport(answers)];
  return { ...transport, page, auth: aClient({ fetch: transport.fetch, ...options }) };
};

/** A page with a session, restored. */
const restored = async (answers: Parameters<typeof fakeTransport>[0] = {}, options = {}) => {
  const all = { [REFRESH]: [renewed], [ME]: [ok], [LOGIN]: [loggedIn], ...answers };
  const { auth, ...rest } = opening(all, { hint: '1' }, options);
  const changes: unknown[] = [];
  auth.onChange((user, why) => changes.push([user?.username ?? null, why]));
  await auth.ready;
  return { ...rest, auth, changes };
};

it.each(['localhost:3000', 'auth.example.com', '/auth', ''])(
  'an address without a scheme is refused: %j',
  (baseUrl) => {
    fakePage();
    for (const create of [createAuthClient, createAccountClient])
      expect(() => create({ baseUrl })).toThrow(/http:\/\/ or https:\/\//);
  },
);

describe('a page that opens', () => {
  it('sends nothing without the hint that there may be a session', async () => {
    const { auth, sent } = opening({});
    expect(await auth.ready).toBeNull();
    expect(sent()).toEqual([]);
  });

  it('restores the session with one request', async () => {
    const { auth, sent, changes, requests } = await restored();
    expect(auth.user?.username).toBe('ada');
    expect(changes).toEqual([['ada', 'refresh']]);
    expect(sent()).toEqual([`POST ${REFRESH}`]);
    const { user } = auth;
    await auth.refresh();
    expect(auth.user).toBe(user);
    expect(requests[0]).toMatchObject({ keepalive: true, credentials: 'include', redirect: 'error' });
  });

  it('does not store the token', async () => {
    const { page } = await restored();
    expect([...page.storage]).toEqual([[`tandem:${BASE_URL}`, '2']]);
  });

  it('looks for a session without the hint if it is told to, and the hint is there again', async () => {
    const { auth, page, sent } = opening({ [REFRESH]: [renewed] }, {}, { ignoreHint: true });
    expect(auth.user).toBeUndefined();
    expect((await auth.ready)?.username).toBe('ada');
    expect(sent()).toEqual([`POST ${REFRESH}`]);
    expect(Number(page.storage.get(`tandem:${BASE_URL}`))).toBeGreaterThan(0);
  });

  it('that is told to, and finds no session, tells no listener that one has ended', async () => {
    const { auth } = opening({ [REFRESH]: [refused] }, {}, { ignoreHint: true });
    const listener = vi.fn();
    auth.onChange(listener);
    await seconds(10);
    expect(await auth.ready).toBeNull();
    expect(auth.user).toBeNull();
    expect(listener).not.toHaveBeenCalled();
  });

  it('that is told to, and gets no answer, tries again when there is a connection', async () => {
    const { auth, page } = opening({ [REFRESH]: [offline, renewed] }, {}, { ignoreHint: true });
    expect(await errorOf(auth.ready)).toMatchObject({ code: 'CLIENT_NETWORK_FAILED' });
    page.happens('online');
    await seconds(0);
    expect(auth.user?.username).toBe('ada');
  });

  it('is not logged out while it is offline: the user is unknown, and known when there is a connection again', async () => {
    const page = fakePage({ hint: '1' });
    page.navigator.onLine = false;
    const { fetch } = fakeTransport({ [REFRESH]: [offline, renewed] });
    const auth = aClient({ fetch });
    expect(await errorOf(auth.ready)).toMatchObject({ code: 'CLIENT_NETWORK_OFFLINE', retryable: true });
    page.navigator.onLine = true;
    page.happens('online');
    await seconds(0);
    expect(auth.user?.username).toBe('ada');
  });

  it('is logged out after refusals without a sign of another tab, and the next page sends nothing', async () => {
    const { auth, page, sent } = opening({ [REFRESH]: [refused] }, { hint: '1' });
    await seconds(10);
    expect(await auth.ready).toBeNull();
    expect(sent()).toHaveLength(3);
    expect(Number(page.storage.get(`tandem:${BASE_URL}`))).toBeLessThan(0);
  });

  it('stays logged in when another tab was faster', async () => {
    const { auth, page, sent } = opening({ [REFRESH]: [refused, refused, refused, refused, renewed] }, { hint: '1' });
    for (let generation = 2; generation < 60; generation += 1) {
      page.storage.set(`tandem:${BASE_URL}`, `${generation}`);
      await seconds(0.05);
    }
    expect(auth.user?.username).toBe('ada');
    expect(sent()).toHaveLength(5);
  });
});

describe('the access token', () => {
  it('is renewed once for all callers, a minute before it expires', async () => {
    const { auth, requests, sent } = await restored();
    const first = bearerOf(await auth.accessToken());
    await seconds(LIFETIME - 62);
    await auth.fetch(`${BASE_URL}${ME}`);
    expect(bearer(requests[1] as Request)).toBe(first);
    await seconds(3);
    await Promise.all([1, 2, 3].map(() => auth.fetch(`${BASE_URL}${ME}`)));
    expect(sent().filter((each) => each.endsWith(REFRESH))).toHaveLength(2);
    expect(bearer(requests.at(-1) as Request)).not.toBe(first);
  });

  it.each([-3600, 3600])('does not depend on a clock that is %i s wrong', async (wrong) => {
    const { auth, sent } = await restored({
      [REFRESH]: [() => success({ accessToken: anAccessToken({ iat: Math.floor(Date.now() / 1000) + wrong }) })],
    });
    await seconds(LIFETIME - 62);
    await auth.accessToken();
    expect(sent()).toHaveLength(1);
    await seconds(3);
    await auth.accessToken();
    expect(sent()).toHaveLength(2);
  });

  it('is renewed in time although the clock is set back meanwhile', async () => {
    const { auth, sent } = await restored();
    vi.setSystemTime(Date.now() - 3_600_000);
    await seconds(LIFETIME - 59);
    await auth.accessToken();
    expect(sent()).toHaveLength(2);
  });

  it('is renewed when a page is seen again after the machine has slept', async () => {
    const { page, sent } = await restored();
    page.document.hidden = true;
    await seconds(LIFETIME);
    expect(sent()).toHaveLength(1);
    page.document.hidden = false;
    page.happens('visibilitychange');
    await seconds(0);
    expect(sent()).toHaveLength(2);
  });

  it('is used until it expires when the service can not renew it', async () => {
    const { auth, sent } = await restored({ [REFRESH]: [renewed, () => refusal('DB_QUERY_FAILED', 500)] });
    await seconds(LIFETIME - 30);
    expect(await auth.accessToken()).not.toBeNull();
    await seconds(40);
    expect((await errorOf(auth.accessToken())).code).toBe('DB_QUERY_FAILED');
    expect(auth.user?.username).toBe('ada');
    expect(sent().length).toBeGreaterThan(2);
  });

  it.each([
    ['a renewal that was due', (_auth: AuthClient) => Promise.resolve()],
    ['one that was asked for earlier', (auth: AuthClient) => errorOf(auth.refresh())],
  ])('is asked for again within seconds after the response to %s was lost, then less often', async (_title, begin) => {
    vi.spyOn(Math, 'random').mockReturnValue(0.5);
    const times: number[] = [];
    const lost = () => {
      times.push(Date.now() / 1000);
      return offline();
    };
    const { auth, sent } = await restored({ [REFRESH]: [renewed, lost, lost, lost, renewed] });
    const renewals = () => sent().filter((each) => each.endsWith(REFRESH));
    await begin(auth);
    for (let waited = 0; renewals().length < 5 && waited < 2 * LIFETIME; waited += 1) await seconds(1);
    const [first = 0, ...later] = times;
    expect(later.map((time) => time - first)).toEqual([3, 48]);
    await seconds(LIFETIME / 2);
    expect(renewals()).toHaveLength(5);
  });

  it('does not wait for ever for a service that does not respond', async () => {
    const { auth } = await restored({ [REFRESH]: [renewed, () => new Promise<Response>(() => undefined)] });
    await seconds(LIFETIME);
    expect(await errorOf(auth.accessToken())).toMatchObject({ code: 'CLIENT_NETWORK_TIMEOUT', retryable: true });
  });
});

describe('refresh', () => {
  it('renews a token that is not due, and resolves to the user', async () => {
    const { auth, sent, changes } = await restored();
    const before = await auth.accessToken();
    expect((await auth.refresh())?.username).toBe('ada');
    expect(sent()).toEqual([`POST ${REFRESH}`, `POST ${REFRESH}`]);
    expect(await auth.accessToken()).not.toBe(before);
    expect(changes.at(-1)).toEqual(['ada', 'refresh']);
  });

  it('sends one request for all who call it at a time, and another one later', async () => {
    const { auth, sent } = await restored();
    await Promise.all([auth.refresh(), auth.refresh(), auth.refresh()]);
    expect(sent()).toHaveLength(2);
    await auth.refresh();
    expect(sent()).toHaveLength(3);
  });

  it('finds a session that was opened elsewhere, though this page knew of none', async () => {
    const { auth, page } = opening({ [REFRESH]: [renewed] });
    expect(await auth.ready).toBeNull();
    expect((await auth.refresh())?.username).toBe('ada');
    // The next page knows of it.
    expect(Number(page.storage.get(`tandem:${BASE_URL}`))).toBeGreaterThan(0);
  });
});

describe('a page that may not store anything', () => {
  /** Browsers throw when cookies are blocked. */
  const blocked = (): never => {
    throw new DOMException('Access is denied for this document.', 'SecurityError');
  };
  const open = (answers: Parameters<typeof fakeTransport>[0]) => {
    fakePage({ origin: BASE_URL });
    vi.stubGlobal('localStorage', null);
    Object.defineProperty(globalThis, 'localStorage', { get: blocked, configurable: true });
    vi.stubGlobal(
      'BroadcastChannel',
      class {
        constructor() {
          blocked();
        }
      },
    );
    const logged = vi.spyOn(console, 'error').mockImplementation(() => undefined);
    const transport = fakeTransport({ [LOGIN]: [loggedIn], ...answers });
    return { ...transport, logged, auth: aClient({ fetch: transport.fetch }) };
  };

  it('says at the log-in that the cookie is blocked, if it is', async () => {
    const { auth, logged } = open({ [REFRESH]: [refused] });
    await seconds(10);
    expect(await auth.ready).toBeNull();
    const error = await errorOf(auth.login(ADA));
    expect(error).toMatchObject({ code: 'CLIENT_COOKIE_BLOCKED', message: expect.stringContaining('Allow cookies.') });
    expect(logged).toHaveBeenCalledWith(error.message);
    expect(auth.user).toBeNull();
  });

  it.each([
    ['only storage is blocked', renewed],
    ['it can not be found out', offline],
  ])('logs in if %s', async (_title, answer) => {
    const { auth, logged } = open({ [REFRESH]: [answer] });
    expect((await auth.login(ADA)).username).toBe('ada');
    expect(logged).not.toHaveBeenCalled();
  });
});

const bearerOf = (token: string | null) => `Bearer ${token}`;
const expired = () => refusal('AUTH_TOKEN_INVALID', 401);

describe('fetch', () => {
  it('repeats a request once after a 401, with its body and another token', async () => {
    const bodies: string[] = [];
    const read = async (request: Request) => {
      bodies.push(await request.text());
      return bodies.length === 1 ? expired() : ok();
    };
    const { auth, requests } = await restored({ '/api': [read] });
    const body = new ReadableStream({
      start: (controller) => {
        controller.enqueue(new TextEncoder().encode('{"a":1}'));
        controller.close();
      },
    });
    const response = await auth.fetch(`${BASE_URL}/api`, { method: 'POST', body, duplex: 'half' } as RequestInit);
    expect(response.status).toBe(200);
    expect(bodies).toEqual(['{"a":1}', '{"a":1}']);
    expect(new Set(requests.filter(({ url }) => url.endsWith('/api')).map(bearer)).size).toBe(2);
  });

  it('returns a second 401', async () => {
    const { auth, sent } = await restored({ [ME]: [expired] });
    expect((await auth.fetch(`${BASE_URL}${ME}`)).status).toBe(401);
    expect(sent()).toEqual([`POST ${REFRESH}`, `GET ${ME}`, `POST ${REFRESH}`, `GET ${ME}`]);
  });

  it('logs the user out when the session has ended, and does not ask for ever', async () => {
    const ended = () => refusal('AUTH_TOKEN_INVALID', 401);
    const { auth, sent, changes } = await restored({ [REFRESH]: [renewed, refused], [ME]: [ended] });
    const response = auth.fetch(`${BASE_URL}${ME}`);
    await seconds(3_600);
    expect((await response).status).toBe(401);
    expect(changes.at(-1)).toEqual([null, 'ended']);
    const renewal = `POST ${REFRESH}`;
    expect(sent()).toEqual([renewal, `GET ${ME}`, renewal, renewal, renewal]);
  });

  it.each(['https://api.example.com', 'https://API.example.com:443/', 'https://api.example.com/notes'])(
    'sends the token to the origin of %s, if it is in origins, and follows no redirect',
    async (origin) => {
      const { auth, requests } = await restored({ '/notes': [ok] }, { origins: [origin] });
      await auth.fetch('https://api.example.com/notes', { redirect: 'follow' });
      expect(requests.map(bearer).at(-1)).toMatch(/^Bearer /);
      expect(requests.at(-1)?.redirect).toBe('error');
    },
  );

  it.each(['https://evil.example.com/', 'http://auth.example.com/', 'https://auth.example.com:8443/'])(
    'sends nothing to %s',
    async (url) => {
      const { auth, requests } = await restored();
      expect((await errorOf(auth.fetch(url))).code).toBe('CLIENT_TARGET_REFUSED');
      expect(requests).toHaveLength(1);
    },
  );

  describe('when the service asks for a step-up', () => {
    const asked = (parameter: string) => () => {
      const challenge = `Bearer error="insufficient_user_authentication", ${parameter}`;
      return refusal('AUTH_STEP_UP_REQUIRED', 401, {}, { 'WWW-Authenticate': challenge });
    };

    it.each([
      ['max_age=300', 'recent'],
      ['acr_values="aal2"', 'second-factor'],
    ])('waits for it, and repeats the request once with the raised token: %s', async (parameter, reason) => {
      const onStepUp = vi.fn(async () => auth.stepUp({ password: 'correct horse' }));
      const raised = anAccessToken();
      const { auth, sent, requests, changes } = await restored(
        { [ME]: [asked(parameter), ok], '/auth/step-up': [() => success({ accessToken: raised })] },
        { onStepUp },
      );
      const response = await auth.fetch(`${BASE_URL}${ME}`, { method: 'PUT', body: 'a form' });
      expect(response.status).toBe(200);
      expect(onStepUp.mock.calls).toEqual([[reason]]);
      expect(sent().slice(1)).toEqual([`PUT ${ME}`, 'POST /auth/step-up', `PUT ${ME}`]);
      expect(await requests.at(-2)?.json()).toEqual({ password: 'correct horse' });
      const last = requests.at(-1) ?? expect.unreachable();
      expect([bearer(last), await last.text()]).toEqual([`Bearer ${raised}`, 'a form']);
      expect(await auth.accessToken()).toBe(raised);
      expect(changes.at(-1)).toEqual(['ada', 'refresh']);
    });

    it.each([
      ['by an API that repeats its challenge', ['acr_values="aal2", max_age=300'], 200],
      ['by the service', ['acr_values="aal2"'], 200],
      ['by one that is never content', Array(9).fill('acr_values="aal2", max_age=300'), 401],
    ])(
      'asks for the password and for a second factor once each, if both are missing: %s',
      async (_whom, then, status) => {
        const onStepUp = vi.fn(async () => auth.stepUp({ password: 'correct horse' }));
        const { auth, sent, requests } = await restored(
          {
            [ME]: [asked('acr_values="aal2", max_age=300'), ...then.map(asked), ok],
            '/auth/step-up': [() => success({ accessToken: anAccessToken() })],
          },
          { onStepUp },
        );
        const response = await auth.fetch(`${BASE_URL}${ME}`, { method: 'PUT', body: 'a form' });
        expect(response.status).toBe(status);
        expect(onStepUp.mock.calls).toEqual([['recent'], ['second-factor']]);
        const step = ['POST /auth/step-up', `PUT ${ME}`];
        expect(sent().slice(1)).toEqual([`PUT ${ME}`, ...step, ...step]);
        expect(await requests.at(-1)?.text()).toBe('a form');
      },
    );

    it('waits for it as well after the token was refused and renewed', async () => {
      const onStepUp = vi.fn(async () => auth.stepUp({ password: 'correct horse' }));
      const { auth, sent } = await restored(
        {
          [ME]: [() => refusal('AUTH_TOKEN_INVALID', 401), asked('max_age=300'), ok],
          '/auth/step-up': [() => success({ accessToken: anAccessToken() })],
        },
        { onStepUp },
      );
      expect((await auth.fetch(`${BASE_URL}${ME}`)).status).toBe(200);
      expect(onStepUp.mock.calls).toEqual([['recent']]);
      expect(sent().slice(1)).toEqual([`GET ${ME}`, `POST ${REFRESH}`, `GET ${ME}`, 'POST /auth/step-up', `GET ${ME}`]);
    });

    it('rejects as onStepUp does, and so do the calls of the account client', async () => {
      const cancelled = new Error('the user has closed the prompt');
      const { auth } = await restored({ [ME]: [asked('max_age=300')] }, { onStepUp: () => Promise.reject(cancelled) });
      await expect(auth.fetch(`${BASE_URL}${ME}`)).rejects.toBe(cancelled);
      const account = createAccountClient({ baseUrl: BASE_URL, fetch: auth.fetch });
      await expect(account.me()).rejects.toBe(cancelled);
    });

    /** Each request is refused until a token is raised that often. */
    const refusedUntil =
      (parameter: string, raised: readonly string[], count = 1) =>
      () =>
        raised.length < count ? asked(parameter)() : ok();
    const raising = (raised: string[]) => () => {
      raised.push('');
      return success({ accessToken: anAccessToken() });
    };

    it('asks the user once for all requests at a time, and for one whose answer arrives afterwards', async () => {
      const raised: string[] = [];
      const late = Promise.withResolvers<Response>();
      const form = Promise.withResolvers<void>();
      const onStepUp = vi.fn(async () => {
        await form.promise;
        await auth.stepUp({ password: 'correct horse' });
      });
      const { auth } = await restored(
        {
          [ME]: [refusedUntil('max_age=300', raised)],
          '/late': [() => late.promise, ok],
          '/auth/step-up': [raising(raised)],
        },
        { onStepUp },
      );
      const slow = auth.fetch(`${BASE_URL}/late`);
      const others = [1, 2, 3].map(() => auth.fetch(`${BASE_URL}${ME}`));
      await seconds(1);
      form.resolve();
      expect((await Promise.all(others)).map(({ status }) => status)).toEqual([200, 200, 200]);
      late.resolve(asked('max_age=300')());
      expect((await slow).status).toBe(200);
      expect(onStepUp).toHaveBeenCalledTimes(1);
    });

    it('asks again for a second factor once the user has shown the rest, and never twice at once', async () => {
      const raised: string[] = [];
      let open = 0;
      const onStepUp = vi.fn(async () => {
        open += 1;
        expect(open).toBe(1);
        await auth.stepUp({ password: 'correct horse' });
        open -= 1;
      });
      const { auth } = await restored(
        {
          '/recent': [asked('max_age=300'), ok],
          '/factor': [refusedUntil('acr_values="aal2"', raised, 2)],
          '/auth/step-up': [raising(raised)],
        },
        { onStepUp },
      );
      const all = await Promise.all(['/recent', '/factor'].map((path) => auth.fetch(BASE_URL + path)));
      expect(all.map(({ status }) => status)).toEqual([200, 200]);
      expect(onStepUp.mock.calls).toEqual([['recent'], ['second-factor']]);
    });

    it('asks again after the user has refused', async () => {
      const onStepUp = vi.fn(() => Promise.reject(new Error('no')));
      const { auth } = await restored({ [ME]: [asked('max_age=300')] }, { onStepUp });
      const results = await Promise.allSettled([1, 2].map(() => auth.fetch(`${BASE_URL}${ME}`)));
      expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
      expect(onStepUp).toHaveBeenCalledTimes(1);
      await expect(auth.fetch(`${BASE_URL}${ME}`)).rejects.toThrow('no');
      expect(onStepUp).toHaveBeenCalledTimes(2);
    });

    it('returns the response without the option, and renews nothing', async () => {
      const { auth, sent } = await restored({ [ME]: [asked('max_age=300')] });
      expect((await auth.fetch(`${BASE_URL}${ME}`)).status).toBe(401);
      expect(sent().slice(1)).toEqual([`GET ${ME}`]);
    });
  });

  it('refuses a request whose body is used up', async () => {
    const { auth } = await restored();
    const request = new Request(`${BASE_URL}/api`, { method: 'POST', body: 'once' });
    await request.text();
    await expect(auth.fetch(request)).rejects.toThrow(TypeError);
  });

  it('rejects with the reason of the caller who has aborted it', async () => {
    const { auth } = await restored({ '/api': [({ signal }) => Promise.reject(signal.reason)] });
    await expect(auth.fetch(`${BASE_URL}/api`, { signal: AbortSignal.abort('enough') })).rejects.toBe('enough');
  });

  it('sends no token when nobody is logged in', async () => {
    fakePage();
    const { fetch, requests } = fakeTransport({ [ME]: [() => refusal('AUTH_TOKEN_MISSING', 401)] });
    expect((await aClient({ fetch }).fetch(`${BASE_URL}${ME}`)).status).toBe(401);
    expect(requests.map(bearer)).toEqual([null]);
  });
});

it.each(['https://AUTH.example.com', 'HTTPS://auth.example.com:443/', 'https://auth.example.com//'])(
  'a service at %s is known as itself: a wrong password does not repeat the request',
  async (baseUrl) => {
    const PASSWORD = '/users/me/password';
    const answers = { [PASSWORD]: [() => refusal('AUTH_CREDENTIALS_INVALID', 401)] };
    const { auth, sent } = await restored(answers, { baseUrl });
    await errorOf(auth.changePassword({ currentPassword: 'a', newPassword: 'b' }));
    expect(sent()).toEqual([`POST ${REFRESH}`, `PUT ${PASSWORD}`]);
  },
);

describe('a registration', () => {
  const REGISTRATION = { username: 'ada', email: 'ada@example.org', password: 'correct horse' };

  it('logs the user in', async () => {
    const { auth } = opening({ '/auth/register': [loggedIn] }, { origin: BASE_URL });
    expect((await auth.register(REGISTRATION))?.username).toBe('ada');
    expect(auth.user?.username).toBe('ada');
  });

  it.each(['https://app.example.com', BASE_URL])(
    'resolves to null and changes nothing where addresses have to be verified, in a page of %s',
    async (origin) => {
      const { auth, page, sent } = opening({ '/auth/register': [() => success(null, { status: 202 })] }, { origin });
      const changes: unknown[] = [];
      auth.onChange((...change) => changes.push(change));
      expect(await auth.register(REGISTRATION)).toBeNull();
      expect(auth.user).toBeNull();
      expect(changes).toEqual([]);
      expect([...page.storage]).toEqual([]);
      expect(sent()).toEqual(['POST /auth/register']);
    },
  );

  it('does not log out who is logged in', async () => {
    const { auth } = await restored({ '/auth/register': [() => success(null, { status: 202 })] });
    expect(await auth.register(REGISTRATION)).toBeNull();
    expect(auth.user?.username).toBe('ada');
  });
});

describe('a call that opens another session', () => {
  const PASSWORD = '/users/me/password';
  const OTHERS = '/auth/sessions';
  const CALLS: readonly (readonly [path: string, call: (auth: AuthClient) => Promise<unknown>])[] = [
    [PASSWORD, (auth) => auth.changePassword({ currentPassword: 'a', newPassword: 'b' })],
    [OTHERS, (auth) => auth.sessions.endOthers()],
  ];

  it.each(CALLS)('brings the token that is used from then on, in other tabs too: %s', async (path, call) => {
    const value = anAccessToken();
    const { auth, page, changes, sent } = await restored({ [path]: [() => success({ accessToken: value })] });
    await call(auth);
    expect(await auth.accessToken()).toBe(value);
    expect(page.posted.at(-1)).toMatchObject({ value });
    expect(changes.at(-1)).toEqual(['ada', 'refresh']);
    expect(sent()).toHaveLength(2);
  });

  it.each(CALLS)(
    'is not open at the same time as a renewal, whose cookie would replace its own: %s',
    async (path, call) => {
      const answer = Promise.withResolvers<Response>();
      const { auth, sent } = await restored({ [path]: [() => answer.promise] });
      const calling = call(auth);
      await seconds(0);
      const renewing = auth.refresh();
      await seconds(0);
      expect(sent()).toHaveLength(2);
      answer.resolve(renewed());
      await Promise.all([calling, renewing]);
    },
  );

  it.each(['AUTH_FAILED', 'AUTH_TOKEN_INVALID'])(
    'is repeated after a renewal, when it is refused with %s',
    async (code) => {
      const { auth, sent } = await restored({ [OTHERS]: [() => refusal(code, 401), renewed] });
      await auth.sessions.endOthers();
      expect(sent()).toEqual([`POST ${REFRESH}`, `DELETE ${OTHERS}`, `POST ${REFRESH}`, `DELETE ${OTHERS}`]);
    },
  );
});

it('the end of a session is a log-out, if the session is that of this client', async () => {
  const { auth, sent, changes } = await restored({ '/auth/clear-cookie': [ok], '/auth/sessions/another': [ok] });
  await auth.sessions.end('another');
  expect(auth.user?.username).toBe('ada');
  await auth.sessions.end(SID);
  expect(sent()).toEqual([`POST ${REFRESH}`, 'DELETE /auth/sessions/another', 'GET /auth/clear-cookie']);
  expect(changes.at(-1)).toEqual([null, 'logout']);
});

describe('a listener', () => {
  it('runs when no request is open, and can call everything', async () => {
    const { auth } = await restored();
    const seen = Promise.withResolvers<string | null>();
    auth.onChange(() => auth.accessToken().then(seen.resolve, seen.reject));
    await auth.login(ADA);
    expect(await seen.promise).toBe(await auth.accessToken());
  });

  it('learns of log-in and log-out, until it is removed', async () => {
    const { auth, changes } = await restored({ '/auth/clear-cookie': [() => success(null)] });
    const listener = vi.fn();
    auth.onChange(listener)();
    await auth.login(ADA);
    expect(listener).not.toHaveBeenCalled();
    await auth.logout();
    expect(changes).toEqual([
      ['ada', 'refresh'],
      ['ada', 'login'],
      [null, 'logout'],
    ]);
    expect(await auth.accessToken()).toBeNull();
  });
});

describe('a log-out', () => {
  it('is not undone by a renewal that was under way', async () => {
    const answer = Promise.withResolvers<Response>();
    const { auth, changes, page } = await restored({
      [REFRESH]: [renewed, () => answer.promise],
      '/auth/clear-cookie': [() => success(null)],
    });
    page.document.hidden = true;
    await seconds(LIFETIME);
    const token = auth.accessToken();
    const out = auth.logout();
    answer.resolve(renewed());
    await Promise.all([token, out]);
    expect(auth.user).toBeNull();
    expect(changes.at(-1)).toEqual([null, 'logout']);
  });

  it('changes nothing if it fails', async () => {
    const { auth } = await restored({ '/auth/clear-cookie': [offline] });
    expect((await errorOf(auth.logout())).retryable).toBe(true);
    expect(auth.user?.username).toBe('ada');
  });

  it('of another tab, missed by this one, is noticed when the page is seen again', async () => {
    const { auth, page } = await restored({ [REFRESH]: [renewed, refused] });
    page.storage.set(`tandem:${BASE_URL}`, '-9');
    page.happens('pageshow');
    await seconds(10);
    expect(auth.user).toBeNull();
  });
});

describe('an error', () => {
  it('has the fields, the request id and the time to wait', async () => {
    const fields = [{ field: 'password', message: 'must have at least 8 characters', code: 'too_short' }];
    const more = { details: fields };
    const { auth } = opening(
      {
        '/auth/register': [() => refusal('CLIENT_PARAMS_VALIDATION_FAILED', 400, more)],
        [LOGIN]: [() => refusal('CLIENT_REQUEST_RATE_LIMIT_EXCEEDED', 429, {}, { 'Retry-After': '7' })],
      },
      { origin: BASE_URL },
    );
    const registering = auth.register({ username: 'ada', email: 'ada@example.org', password: 'x' });
    expect(await errorOf(registering)).toMatchObject({
      fields: [{ ...fields[0], min: 8 }],
      requestId: 'request-1',
      retryable: false,
      retryAfter: null,
    });
    expect(await errorOf(auth.login(ADA))).toMatchObject({ retryable: true, retryAfter: 7, fields: [] });
  });

  it.each([null, 'username', 'email'] as const)('names the field that somebody else has: %s', async (field) => {
    const { message } = field === null ? CATALOG.AUTH_USER_DUPLICATE : duplicateUser(field);
    const { auth } = opening({ '/auth/register': [() => refusal('AUTH_USER_DUPLICATE', 409, { message })] });
    const registering = auth.register({ username: 'ada', email: 'ada@example.org', password: 'x' });
    expect(await errorOf(registering)).toMatchObject({ fields: field ? [{ field, message, code: 'taken' }] : [] });
  });

  it.each(Object.entries(FIELD_CODES))('gives a field with the code %s the number %s', async (code, name) => {
    const detail = { field: 'password', message: 'must have at most 72 bytes of UTF-8', code };
    const more = { details: [detail] };
    const { auth } = opening(
      { [LOGIN]: [() => refusal('CLIENT_PARAMS_VALIDATION_FAILED', 400, more)] },
      { origin: BASE_URL },
    );
    const { fields } = await errorOf(auth.login(ADA));
    expect(fields).toEqual([name === null ? detail : { ...detail, [name]: 72 }]);
  });

  it.each(Object.entries(CATALOG))('%s is retryable as in the catalog', async (code, { status, retryable }) => {
    const { auth } = opening({ [LOGIN]: [() => refusal(code, status)] }, { origin: BASE_URL });
    expect(await errorOf(auth.login(ADA))).toMatchObject({ code, retryable });
  });

  it('reports an answer that is not the service’s', async () => {
    const { auth } = opening(
      { [LOGIN]: [() => new Response('<h1>Bad gateway</h1>', { status: 502 })] },
      { origin: BASE_URL },
    );
    expect(await errorOf(auth.login(ADA))).toMatchObject({ code: 'CLIENT_RESPONSE_INVALID', retryable: true });
  });
});

it('in Node sends nothing by itself, and renews when asked: its `fetch` keeps the cookie', async () => {
  const { fetch, sent } = fakeTransport({ [REFRESH]: [renewed] });
  const auth = aClient({ fetch });
  expect(await auth.ready).toBeNull();
  expect(sent()).toEqual([]);
  expect((await auth.refresh())?.username).toBe('ada');
});
