import { generateKeyPairSync, hash, type KeyObject } from 'node:crypto';
import { exportJWK, SignJWT } from 'jose';
import { describe, expect, it, vi } from 'vitest';
import { AuthError } from '../../client/src/auth-error.ts';
import { createServerAuth } from '../../client/src/server.ts';
import type { AuthErrorCode, ServerAuthOptions } from '../../client/src/types.ts';
import { refusal, success } from '../support/client.ts';
import { fixedClock } from '../support/fixed-clock.ts';
import { encoded } from '../support/forgeries/forge.ts';
import { decode, forged, servicesOverOneDatabase, signUp, tokenIn, tokensOf } from '../support/http/auth-http.ts';
import { aPerson } from '../support/http/service.ts';
import { type DeviceKey, joseDeviceKey } from '../support/jose-proofs.ts';
import { testKeys } from '../support/keys.ts';
import { keyVariables } from '../support/processes/environments.ts';
import { freePort } from '../support/servers/free-port.ts';

const PARTIES = { JWT_ISSUER: 'https://auth.example.com', JWT_AUDIENCE: 'https://app.example.com' };
const KEYS = testKeys();
const APP = 'https://app.example.com';
const DOCUMENT = { 'Sec-Fetch-Mode': 'navigate', 'Sec-Fetch-Dest': 'document' };
const AN_HOUR_AGO = Date.now() - 3_600_000;

const { start } = servicesOverOneDatabase();
const service = await start({ ...keyVariables(KEYS), ...PARTIES });
const ada = await signUp(service);

/** A page server in front of the service. @returns also the paths that it has asked the service for */
const pages = (options: Partial<ServerAuthOptions> = {}) => {
  const asked: string[] = [];
  const send = options.fetch ?? fetch;
  const auth = createServerAuth({
    baseUrl: service.url,
    issuer: PARTIES.JWT_ISSUER,
    audience: PARTIES.JWT_AUDIENCE,
    ...options,
    fetch: (input, init) => {
      asked.push(new URL(input instanceof Request ? input.url : input).pathname);
      return send(input, init);
    },
  });
  return { ...auth, asked };
};

type Headers = Readonly<Record<string, string>>;
const request = (cookie = '', url = `${APP}/account`, headers: Headers = DOCUMENT, method = 'GET'): Request =>
  new Request(url, { method, headers: { ...headers, Cookie: cookie } });
const accessCookie = (token = ada.accessToken) => `access_token=${token}`;

/** What a visitor gets instead of a page. */
const instead = async (outcome: Promise<unknown>): Promise<Response> => {
  const response = await outcome;
  if (!(response instanceof Response)) return expect.unreachable('there is a user');
  expect(response.headers.get('Cache-Control')).toBe('no-store');
  return response;
};
/** To where a visitor is sent to get an access token, and comes back from. */
const continuedTo = (response: Response, base = service.url): URL => {
  expect(response.status).toBe(303);
  const location = new URL(response.headers.get('Location') ?? '');
  expect(location.origin + location.pathname).toBe(`${base}/auth/continue`);
  return new URL(location.searchParams.get('to') ?? '');
};

describe('getUser', () => {
  it('knows a visitor by the access token, with one look at the keys of the service', async () => {
    const { getUser, asked } = pages();
    for (let count = 0; count < 10; count += 1) expect(await getUser(request(accessCookie()))).toEqual(ada.user);
    expect(asked).toEqual(['/.well-known/jwks.json']);
  });

  it.each([
    ['beside other cookies', (token: string) => `theme=dark; ${token}; refresh_token=x`],
    ['in a header without spaces', (token: string) => `theme=dark;${token};a=b`],
    ['after one of its name that another host has set', (token: string) => `access_token=forged; ${token}`],
    ['after a cookie with a longer name', (token: string) => `not_access_token=x; ${token}`],
  ])('finds the cookie %s', async (_where, header) => {
    expect(await pages().getUser(request(header(accessCookie())))).toEqual(ada.user);
  });

  it.each([
    ['https://auth.example.com', undefined, '__Host-access_token'],
    ['https://auth.example.com', '__Secure-access_token', '__Secure-access_token'],
    ['http://localhost:3000', undefined, 'access_token'],
  ] as const)(
    'of a service at %s, with the option %s, reads the cookie %s alone',
    async (baseUrl, cookieName, read) => {
      const { getUser } = pages({ baseUrl, cookieName, fetch: () => fetch(`${service.url}/.well-known/jwks.json`) });
      for (const name of ['__Host-access_token', '__Secure-access_token', 'access_token'])
        expect(await getUser(request(`${name}=${ada.accessToken}`))).toEqual(name === read ? ada.user : null);
    },
  );

  it('knows nobody without a cookie, and does not ask the service', async () => {
    const { getUser, asked } = pages();
    for (const cookie of ['', 'access_token=', 'access_token', 'refresh_token=x', ';;=;', 'a'.repeat(10_000)])
      expect(await getUser(request(cookie))).toBeNull();
    expect(await getUser(new Request(APP))).toBeNull();
    expect(asked).toEqual([]);
  });

  const early = async () =>
    signUp(await start({ ...keyVariables(KEYS), ...PARTIES }, () => ({ clock: fixedClock(AN_HOUR_AGO) })));
  const issuedWith = async (env: Headers) => (await signUp(await start({ ...keyVariables(KEYS), ...env }))).accessToken;
  /** Signed with the valid key: only what is not as expected is wrong. */
  const signedWith = (header: object, claims: object): Promise<string> => {
    const valid = decode(ada.accessToken);
    return new SignJWT({ ...valid.claims, ...claims })
      .setProtectedHeader({ ...valid.header, alg: 'ES256', ...header })
      .sign(KEYS.access.privateKey);
  };

  it.each([
    ['a very long one', async () => `${ada.accessToken.split('.')[0]}.${'a'.repeat(1_000_000)}.x`],
    ['a refresh token', async () => tokenIn(ada.cookie)],
    ['an expired token', async () => (await early()).accessToken],
    ['a token of another issuer', () => issuedWith({ ...PARTIES, JWT_ISSUER: 'https://other.example.com' })],
    ['a token for another audience', () => issuedWith({ ...PARTIES, JWT_AUDIENCE: 'https://other.example.com' })],
    ['a token without issuer and audience', () => issuedWith({})],
    ['a token of other keys', () => issuedWith({ ...keyVariables(testKeys()), ...PARTIES })],
    [
      'alg none',
      async () => `${encoded({ ...decode(ada.accessToken).header, alg: 'none' })}.${ada.accessToken.split('.')[1]}.`,
    ],
    ['another typ', () => signedWith({ typ: 'at+jwt' }, {})],
    ['another tokenType', () => signedWith({}, { tokenType: 'refresh' })],
    ['no user', () => signedWith({}, { user: undefined })],
  ])('knows nobody by %s', async (_what, token) => {
    // One with the expected members is accepted.
    expect(await pages().getUser(request(accessCookie(await signedWith({}, {}))))).toEqual(ada.user);
    expect(await pages().getUser(request(accessCookie(await token())))).toBeNull();
  });

  it('fetches the keys again for one that it does not know, but not for each that somebody makes up', async () => {
    let current = service;
    const { getUser, asked } = pages({ fetch: () => fetch(`${current.url}/.well-known/jwks.json`) });
    await getUser(request(accessCookie()));
    current = await start({ ...keyVariables(testKeys()), ...PARTIES });
    const bob = await signUp(current);
    for (let count = 0; count < 5; count += 1) expect(await getUser(request(accessCookie(bob.accessToken)))).toBeNull();
    expect(asked).toHaveLength(1);
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 31_000 });
    expect(await getUser(request(accessCookie(bob.accessToken)))).toEqual(bob.user);
    expect(await getUser(request(accessCookie()))).toBeNull();
  });

  it('rejects while the keys cannot be fetched, and recovers when they can', async () => {
    const port = await freePort();
    const { getUser, requireUser } = pages({ baseUrl: `http://127.0.0.1:${port}` });
    await expect(getUser(request(accessCookie()))).rejects.toMatchObject({
      name: 'AuthError',
      code: 'CLIENT_NETWORK_FAILED',
      retryable: true,
    });
    const { status, headers } = await instead(requireUser(request(accessCookie())));
    expect([status, headers.get('Retry-After')]).toEqual([503, '5']);
    expect(await getUser(request('access_token=garbage'))).toBeNull();

    await start({ ...keyVariables(KEYS), ...PARTIES, PORT: String(port) });
    expect(await getUser(request(accessCookie()))).toEqual(ada.user);
  });

  it.each([
    ['an error', () => new Response('', { status: 502 })],
    ['something else', () => new Response('<h1>Hello</h1>')],
    ['no key set', () => Response.json({})],
    ['nothing in time', () => Promise.reject(new DOMException('', 'TimeoutError'))],
  ])('rejects when the address of the keys answers with %s', async (_what, answer) => {
    const { getUser } = pages({ fetch: async () => answer() });
    await expect(getUser(request(accessCookie()))).rejects.toMatchObject({ retryable: true });
  });

  it('needs an address with a scheme, and a public origin that is one', () => {
    expect(() => createServerAuth({ baseUrl: 'localhost:3000' })).toThrow(TypeError);
    expect(() => createServerAuth({ baseUrl: 'http://localhost:3000', origin: 'app.example.com' })).toThrow(TypeError);
  });
});

const NOTES = 'https://api.example.com/notes';
const binding = await start({ ...keyVariables(KEYS), ...PARTIES, JWT_BINDING: 'on' });
const key = await joseDeviceKey();
const proof = await key.proof({ htu: 'https://auth.example.org/auth/register', now: Date.now() });
const bound = tokensOf(await binding.http.post('/auth/register').send({ ...aPerson(), proof })).accessToken;

describe('a request with a token in Authorization', () => {
  const proofFor = ({ by = key, ...more }: Partial<Parameters<DeviceKey['proof']>[0]> & { by?: DeviceKey } = {}) =>
    by.proof({ htm: 'PUT', htu: NOTES, now: Date.now(), accessToken: bound, ...more });
  const asked = (Authorization: string, DPoP = '', Cookie = '', url = `${NOTES}?a=b`) =>
    new Request(url, { method: 'PUT', headers: { Authorization, DPoP, Cookie } });
  const ORIGIN = { origin: 'https://api.example.com' };
  const knows = async (sent: Request, options: Partial<ServerAuthOptions> = {}) =>
    (await pages({ ...ORIGIN, ...options }).getUser(sent)) !== null;

  it('is of its user, who has to prove the key to which the token is bound', async () => {
    expect(await pages().getUser(asked(`Bearer ${ada.accessToken}`))).toEqual(ada.user);
    const sent = asked(`DPoP ${bound}`, await proofFor());
    // Frameworks look at a request twice, also as another object.
    for (const each of [sent, new Request(sent)]) expect(await knows(each)).toBe(true);
    expect(await knows(asked(`DPoP ${bound}`, await proofFor(), '', 'http://10.0.0.7/notes'))).toBe(true);
    // The host of a request may be that of a server which passes it on.
    await expect(pages().getUser(sent)).rejects.toMatchObject({ code: 'CLIENT_TARGET_REFUSED', retryable: false });
    expect(await knows(sent, { origin: 'https://other.example.com' })).toBe(false);
    expect(await knows(sent, { endedSessions: { isEnded: () => true } })).toBe(false);
  });

  it('is of nobody without that, also beside a valid cookie, and is told what to prove', async () => {
    const claims = decode(await proofFor()).claims;
    const ofCurve = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
    const rsa = generateKeyPairSync('rsa', { modulusLength: 2_048 });
    const forged = async (alg: string, signer: KeyObject, jwk: KeyObject) =>
      new SignJWT(claims).setProtectedHeader({ typ: 'dpop+jwt', alg, jwk: await exportJWK(jwk) }).sign(signer);
    const proofs = {
      missing: '',
      method: await proofFor({ htm: 'GET' }),
      path: await proofFor({ htu: `${NOTES}/1` }),
      host: await proofFor({ htu: 'https://evil.example/notes' }),
      token: await proofFor({ accessToken: ada.accessToken }),
      'no token': await proofFor({ accessToken: '' }),
      key: await proofFor({ by: await joseDeviceKey() }),
      old: await proofFor({ now: Date.now() - 62_000 }),
      early: await proofFor({ now: Date.now() + 62_000 }),
      RS256: await forged('RS256', rsa.privateKey, rsa.publicKey),
      'private key': await forged('ES256', ofCurve, ofCurve),
      none: `${encoded({ ...decode(await proofFor()).header, alg: 'none' })}.${encoded(claims)}.`,
      two: `${await proofFor()}, ${await proofFor()}`,
    };
    const unbound = await proofFor({ accessToken: ada.accessToken });
    const refused: [string, Request][] = [
      ...Object.entries(proofs).map(([what, proof]): [string, Request] => [
        what,
        asked(`DPoP ${bound}`, proof, accessCookie()),
      ]),
      ['Bearer', asked(`Bearer ${bound}`, await proofFor())],
      ['a token that is not bound', asked(`DPoP ${ada.accessToken}`, unbound)],
    ];
    for (const [what, sent] of refused) {
      const { status, headers } = await instead(pages(ORIGIN).requireUser(sent));
      expect([what, status, headers.get('WWW-Authenticate')]).toEqual([
        ...[what, 401, 'DPoP error="invalid_dpop_proof", algs="ES256"'],
      ]);
    }
    expect(await knows(request(accessCookie(bound)))).toBe(false);
  });

  it('leaves a Bearer token to the proxy that has added it, if there is a cookie', async () => {
    expect(await knows(asked('Bearer other', '', accessCookie()))).toBe(true);
    expect(await knows(asked('Bearer other'))).toBe(false);
  });
});

describe('requireUser', () => {
  it('sends a navigation to the service, to come back to the page', async () => {
    const url = `${APP}/notes/%C3%A4?q=a%20b+c&x=%26`;
    const to = continuedTo(await instead(pages().requireUser(request('', url))));
    expect(to.href).toMatch(/^https:\/\/app\.example\.com\/notes\/%C3%A4\?q=a%20b\+c&x=%26&tandem-continued=1\.\d+$/);
  });

  it('names the page by its public origin, and the service with its path', async () => {
    const { requireUser } = pages({ baseUrl: 'https://example.com/id/', origin: `${APP}/` });
    const to = continuedTo(
      await instead(requireUser(request('', 'http://10.0.0.7:4000/a?b=c'))),
      'https://example.com/id',
    );
    expect(to.href).toMatch(/^https:\/\/app\.example\.com\/a\?b=c&tandem-continued=1\.\d+$/);
  });

  it('renews a token that would end while the page asks for something with it', async () => {
    const { requireUser, getUser } = pages();
    const exp = decode(ada.accessToken).claims.exp ?? 0;
    vi.useFakeTimers({ toFake: ['Date'] });
    const cookie = accessCookie();
    vi.setSystemTime(exp * 1000 - 10_001);
    expect(await requireUser(request(cookie))).toEqual(ada.user);
    vi.setSystemTime(exp * 1000 - 9_999);
    expect(await getUser(request(cookie))).toEqual(ada.user);
    expect(await requireUser(request(cookie, APP, {}))).toEqual(ada.user);
    const to = continuedTo(await instead(requireUser(request(cookie, `${APP}/a`))));
    expect(to.href).toMatch(/\/a\?tandem-continued=1/);
    // The browser has come back without another token: it is shown the page.
    expect(await requireUser(request(cookie, to.href))).toEqual(ada.user);
  });

  it.each([
    ['a request of a script', { 'Sec-Fetch-Mode': 'cors', 'Sec-Fetch-Dest': 'empty' }, 'GET'],
    ['a frame', { 'Sec-Fetch-Mode': 'navigate', 'Sec-Fetch-Dest': 'iframe' }, 'GET'],
    ['a form, whose content a redirect would lose', DOCUMENT, 'POST'],
    ['a program that is no browser', {}, 'GET'],
  ])('answers 401 to %s', async (_what, headers, method) => {
    const { status, headers: sent } = await instead(pages().requireUser(request('', APP, headers, method)));
    expect([status, sent.get('WWW-Authenticate')]).toEqual([401, 'Bearer']);
  });

  describe('of a form that comes without a token', () => {
    const URLENCODED = 'application/x-www-form-urlencoded';
    const OWN = { ...DOCUMENT, 'Sec-Fetch-Site': 'same-origin', 'Content-Type': URLENCODED };
    const posted = (body: string, headers: Headers = OWN, url = `${APP}/notes?/add`) =>
      new Request(url, { method: 'POST', body, headers: { 'Content-Length': `${body.length}`, ...headers } });
    const pageFor = async (sent: Request) => {
      const response = await instead(pages().requireUser(sent));
      expect([response.status, response.headers.get('WWW-Authenticate')]).toEqual([401, 'Bearer']);
      return { headers: response.headers, html: await response.text() };
    };

    it('keeps the fields in a page that renews the token and sends them again', async () => {
      const fields = { 'a"b': '<script>&amp;"\'', submit: 'x\r\ny ä', empty: '' };
      const { html, headers } = await pageFor(posted(`${new URLSearchParams(fields)}`));
      expect(headers.get('Content-Type')).toBe('text/html; charset=utf-8');
      expect(headers.get('Content-Security-Policy')).toContain(`script-src ${service.url};`);
      expect(html).toContain(`<script type="module" src="${service.url}/continue-page.js"></script>`);
      const text = html.replaceAll(/&#(\d+);/g, (_all, code) => String.fromCharCode(code));
      expect(text).toMatch(
        /<form method="post" action="https:\/\/app\.example\.com\/notes\?\/add&tandem-continued=1\.\d+"/,
      );
      for (const [name, value] of Object.entries(fields)) expect(text).toContain(`name="${name}" value="${value}"`);
      expect(html.match(/<script/g)).toHaveLength(1);
    });

    it('leads to a log-in in another tab, and back to the page that has the form', async () => {
      const toOf = ({ html }: { html: string }) => /continue\?to=([^"]*)"/.exec(html)?.[1];
      expect(toOf(await pageFor(posted('a=b', { ...OWN, Referer: `${APP}/new` })))).toBe(
        encodeURIComponent(`${APP}/new`),
      );
      const strange = { ...OWN, Referer: `${APP}.evil.example/` };
      expect(toOf(await pageFor(posted('a=b', strange)))).toBe(encodeURIComponent(`${APP}/notes?/add`));
      expect((await pageFor(posted('a=b', { ...OWN, 'Accept-Language': 'de-AT' }))).html).toContain(
        'Noch einmal senden',
      );
    });

    it('sends them by itself once, and later again', async () => {
      const again = (at: number) => posted('a=b', OWN, `${APP}/a?tandem-continued=1.${Math.floor(at / 1000)}`);
      const { html } = await pageFor(again(Date.now()));
      expect([html.includes('<script'), html.includes('value="b"')]).toEqual([false, true]);
      expect((await pageFor(again(AN_HOUR_AGO))).html).toContain('<script');
    });

    it.each([
      ['with files', 'x', { ...OWN, 'Content-Type': 'multipart/form-data; boundary=x' }],
      ['that is too large', `a=${'x'.repeat(500_000)}`, OWN],
      ['of very many fields', 'a&'.repeat(1_001), OWN],
      ['of unknown length', 'a=b', { ...OWN, 'Content-Length': '' }],
    ])('does not keep one %s, and says so', async (_what, body, headers) => {
      const { html } = await pageFor(posted(body, headers));
      expect([html.includes('<form'), html.includes('<script'), html.includes('/auth/continue?to=')]).toEqual([
        ...[false, false, true],
      ]);
    });

    it.each(['cross-site', 'same-site', 'none'])('keeps none that is %s', async (site) => {
      const { html } = await pageFor(posted('a=b', { ...OWN, 'Sec-Fetch-Site': site }));
      expect(html).toBe('Load the page again, or log in.');
    });

    it('leaves one with a token to the application', async () => {
      const sent = posted('a=b', { ...OWN, Cookie: accessCookie() });
      expect(await pages().requireUser(sent)).toEqual(ada.user);
      expect(await sent.text()).toBe('a=b');
    });
  });

  /** Follows a navigation that comes back without a cookie each time. */
  const followed = async (requireUser: ReturnType<typeof pages>['requireUser'], cookie = '', url = `${APP}/a?b=c`) => {
    const visited: string[] = [];
    for (let next = url; ; ) {
      visited.push(next);
      const response = await instead(requireUser(request(cookie, next)));
      if (response.status !== 303 || visited.length > 9) return { visited, response };
      next = continuedTo(response).href;
    }
  };

  it('does not loop when the cookie never arrives, and says what to configure', async () => {
    const { visited, response } = await followed(pages().requireUser);
    expect(visited).toHaveLength(5);
    expect(response.status).toBe(500);
    expect(response.headers.get('Content-Type')).toMatch('text/plain');
    const text = await response.text();
    for (const part of ['No cookie access_token', 'ACCESS_COOKIE=true', 'ACCESS_COOKIE_DOMAIN', 'cookieName'])
      expect(text).toContain(part);
  });

  it('says why, when the cookie arrives and is not valid', async () => {
    const token = await issuer();
    const { response } = await followed(pages().requireUser, accessCookie(token));
    expect(await response.text()).toContain('The access token is not valid: unexpected "iss" claim value.');
  });
  const issuer = async () =>
    (await signUp(await start({ ...keyVariables(KEYS), ...PARTIES, JWT_ISSUER: 'https://other.example.com' })))
      .accessToken;

  it('counts again after a minute, for a page that was kept', async () => {
    const { requireUser } = pages();
    const { visited } = await followed(requireUser);
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 61_000 });
    const to = continuedTo(await instead(requireUser(request('', visited.at(-1)))));
    expect(to.search).toMatch(/^\?b=c&tandem-continued=1\.\d+$/);
  });

  it.each([
    ['/a', '/a?'],
    ['/a?b=c', '/a?b=c&'],
    ['/a?b=c&tandem-continued=x', '/a?b=c&tandem-continued=x&'],
  ])('takes the count off the address of %s', async (page, marked) => {
    const { requireUser } = pages({ origin: APP });
    const url = `http://10.0.0.7:4000${marked}tandem-continued=1.1700000000`;
    const { status, headers } = await instead(requireUser(request(accessCookie(), url)));
    expect([status, headers.get('Location')]).toEqual([303, APP + page]);
    expect(await requireUser(request(accessCookie(), url, {}))).toEqual(ada.user);
  });

  it('takes the count off an address to which the log-in page of the service has led', async () => {
    const { requireUser, linkTo } = pages({ origin: APP });
    const url = `http://10.0.0.7:4000/a?b=c&tandem-continued=1.1700000000&tandem=logged-in`;
    const { headers } = await instead(requireUser(request(accessCookie(), url)));
    // For the browser client of the page, if it has one.
    expect(headers.get('Location')).toBe(`${APP}/a?b=c&tandem=logged-in`);
    const alone = `http://10.0.0.7:4000/a?tandem-continued=1.1700000000&tandem=logged-in`;
    expect((await instead(requireUser(request(accessCookie(), alone)))).headers.get('Location')).toBe(
      `${APP}/a?tandem=logged-in`,
    );
    expect(linkTo('account', request('', url))).toBe(
      `${service.url}/auth/account?to=${encodeURIComponent(`${APP}/a?b=c`)}`,
    );
    expect(linkTo('log-out', request('', url), { to: '/' })).toBe(
      `${service.url}/auth/log-out?to=${encodeURIComponent(`${APP}/`)}`,
    );
  });

  it.each([
    '//evil.example/x',
    '/\\evil.example',
    '/%2F%2Fevil.example',
    '/@evil.example',
    '/?to=https://evil.example',
  ])('sends nobody to another site by the path %s', async (path) => {
    const { requireUser } = pages({ pageServer: PAGE_SERVER });
    const evil = `${APP}${path}`;
    expect(continuedTo(await instead(requireUser(request('', evil)))).origin).toBe(APP);
    const mark = `${evil.includes('?') ? '&' : '?'}tandem-continued=1.1700000000`;
    const back = await instead(requireUser(request(accessCookie(), evil + mark)));
    expect(new URL(back.headers.get('Location') ?? '', 'https://base.example').origin).toBe(APP);
    const login = await instead(requireUser(request('', evil), { loginPage: '/login' }));
    const location = new URL(login.headers.get('Location') ?? '', 'https://base.example');
    expect([location.origin, location.pathname]).toEqual([APP, '/login']);
    expect(new URL(location.searchParams.get('to') ?? '').origin).toBe(APP);
  });
});

const PAGE_SERVER = { id: 'pages', secret: 'a secret of the pages', visitorAddress: () => '192.0.2.7' };

describe('with a page server', () => {
  /** The service answers questions for an access token in this way. */
  const asking = (answer: (asked: Request) => Response | Promise<Response>) => {
    const questions: Request[] = [];
    const { getUser, requireUser, asked } = pages({
      pageServer: PAGE_SERVER,
      fetch: async (input, init) => {
        const question = new Request(input, init);
        if (new URL(question.url).pathname !== '/auth/access-token') return fetch(question);
        questions.push(question);
        return answer(question);
      },
    });
    return { getUser, requireUser, asked, questions };
  };
  const minting = () => asking(() => success({ accessToken: ada.accessToken }));
  const refusing = (code: AuthErrorCode | string, status = 401) => asking(() => refusal(code, status));
  const KNOWN = 'refresh_token=one';

  it('asks the service for a visitor who has the refresh cookie alone, once for a request', async () => {
    const { getUser, requireUser, questions } = minting();
    const visitor = request(`a=b; ${KNOWN}; c=d`);
    expect([await getUser(visitor), await requireUser(visitor)]).toEqual([ada.user, ada.user]);
    expect(questions).toHaveLength(1);
    expect(questions[0]?.method).toBe('POST');
    expect(Object.fromEntries(questions[0]?.headers ?? [])).toMatchObject({
      authorization: `Basic ${Buffer.from('pages:a secret of the pages').toString('base64')}`,
      cookie: KNOWN,
      'x-visitor-address': '192.0.2.7',
    });
  });

  it('does not ask for one who has an access token, or no cookie', async () => {
    const { getUser, questions } = minting();
    expect(await getUser(request(`${accessCookie()}; ${KNOWN}`))).toEqual(ada.user);
    expect(await getUser(request())).toBeNull();
    expect(questions).toEqual([]);
  });

  it('asks when the access token is not valid any more', async () => {
    const { getUser } = minting();
    expect(await getUser(request(`${accessCookie(forged(ada.accessToken))}; ${KNOWN}`))).toEqual(ada.user);
  });

  it('trusts no token that it cannot verify', async () => {
    const { getUser } = asking(() => success({ accessToken: forged(ada.accessToken) }));
    expect(await getUser(request(KNOWN))).toBeNull();
  });

  it('sends a visitor whom the service refuses to the log-in page, and a script gets 401', async () => {
    const { getUser, requireUser } = refusing('AUTH_FAILED');
    expect(await getUser(request(KNOWN))).toBeNull();
    const { headers } = await instead(requireUser(request(KNOWN, `${APP}/a?b=c`), { loginPage: '/login?theme=dark' }));
    expect(headers.get('Location')).toBe(`${APP}/login?theme=dark&to=${encodeURIComponent(`${APP}/a?b=c`)}`);
    const script = await instead(requireUser(request(KNOWN, APP, {}), { loginPage: '/login' }));
    expect(script.status).toBe(401);
    // To that of the service, if there is none here.
    continuedTo(await instead(requireUser(request(KNOWN))));
  });

  it('lets the browser prove its device to the service', async () => {
    const { getUser, requireUser } = refusing('AUTH_DEVICE_UNPROVEN');
    expect(await getUser(request(KNOWN))).toBeNull();
    continuedTo(await instead(requireUser(request(KNOWN), { loginPage: '/login' })));
  });

  it('rejects loudly when the service does not know it', async () => {
    const { getUser, requireUser } = refusing('AUTH_PAGE_SERVER_UNKNOWN');
    await expect(getUser(request(KNOWN))).rejects.toMatchObject({ code: 'AUTH_PAGE_SERVER_UNKNOWN' });
    await expect(requireUser(request(KNOWN))).rejects.toMatchObject({ code: 'AUTH_PAGE_SERVER_UNKNOWN' });
  });

  it.each([
    ['is limited', () => refusal('CLIENT_REQUEST_RATE_LIMIT_EXCEEDED', 429, {}, { 'Retry-After': '17' }), '17'],
    ['has no database', () => refusal('DB_QUERY_FAILED', 500), '5'],
    ['does not answer', () => Promise.reject(new TypeError('fetch failed')), '5'],
    ['is behind a proxy that has lost it', () => new Response('', { status: 502 }), '5'],
  ])('answers 503 when the service %s', async (_what, answer, wait) => {
    const { requireUser } = asking(answer);
    const { status, headers } = await instead(requireUser(request(KNOWN)));
    expect([status, headers.get('Retry-After')]).toEqual([503, wait]);
  });
});

it('a page server hands on all refresh cookies, of which another host may have set one', async () => {
  const PAGE_SERVERS = `${PAGE_SERVER.id}:${hash('sha256', PAGE_SERVER.secret, 'base64url')}`;
  const knowing = await start({ ...keyVariables(KEYS), ...PARTIES, PAGE_SERVERS });
  const { getUser } = pages({ baseUrl: knowing.url, pageServer: PAGE_SERVER });
  const { cookie, user } = await signUp(knowing);
  expect(await getUser(request(`refresh_token=forged; ${cookie}`))).toEqual(user);
});

describe('with the list of ended sessions', () => {
  it('knows nobody whose session has ended', async () => {
    const isEnded = vi.fn(() => true);
    const { getUser, requireUser } = pages({ endedSessions: { isEnded } });
    expect(await getUser(request(accessCookie()))).toBeNull();
    const { header, claims } = decode(ada.accessToken);
    expect(isEnded).toHaveBeenCalledExactlyOnceWith({ sid: header.sid, sub: claims.sub, iat: claims.iat });
    continuedTo(await instead(requireUser(request(accessCookie()))));
  });

  it('answers 503 while that is not known', async () => {
    const isEnded = () => {
      throw new AuthError('CLIENT_NETWORK_FAILED', 'stale', { retryable: true });
    };
    const { getUser, requireUser } = pages({ endedSessions: { isEnded } });
    await expect(getUser(request(accessCookie()))).rejects.toThrow('stale');
    expect((await instead(requireUser(request(accessCookie())))).status).toBe(503);
  });
});

describe('signedInFetch', () => {
  const API = 'https://api.example.com';
  const calls = (origins?: readonly string[]) => {
    const sent: Request[] = [];
    const send = async (input: string | URL | Request, init?: RequestInit) => {
      const request = new Request(input, init);
      if (request.url.endsWith('/jwks.json')) return fetch(request);
      sent.push(request);
      return new Response('ok');
    };
    return { ...pages({ origins, fetch: send }), sent };
  };

  it('sends the access token of the visitor to the service and to the origins that are listed', async () => {
    const { signedInFetch, sent } = calls([API]);
    for (const url of [`${service.url}/users/me`, `${API}/notes?a=b`])
      expect(await (await signedInFetch(request(accessCookie()), url, { method: 'POST', body: 'x' })).text()).toBe(
        'ok',
      );
    expect(sent.map(({ method, url, redirect }) => [method, url, redirect])).toEqual([
      ['POST', `${service.url}/users/me`, 'error'],
      ['POST', `${API}/notes?a=b`, 'error'],
    ]);
    for (const { headers } of sent) {
      expect(headers.get('Authorization')).toBe(`Bearer ${ada.accessToken}`);
      expect(headers.get('Cookie')).toBeNull();
    }
  });

  it('sends none for nobody', async () => {
    const { signedInFetch, sent } = calls([API]);
    await signedInFetch(request(), API);
    expect(sent[0]?.headers.get('Authorization')).toBeNull();
  });

  it.each(['https://evil.example/', 'http://api.example.com/', 'https://api.example.com:8443/', 'data:,x'])(
    'sends nothing to %s',
    async (url) => {
      const { signedInFetch, sent } = calls([API]);
      await expect(signedInFetch(request(accessCookie()), url)).rejects.toMatchObject({
        code: 'CLIENT_TARGET_REFUSED',
      });
      expect(sent).toEqual([]);
    },
  );
});
