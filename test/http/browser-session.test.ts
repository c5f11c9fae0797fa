import type { Response } from 'supertest';
import { describe, expect, it } from 'vitest';
import { MINUTE, SECOND } from '../support/application.ts';
import { type BrowserKey, browserKey } from '../support/browser-key.ts';
import { fixedClock } from '../support/fixed-clock.ts';
import { eventsOf } from '../support/http/account.ts';
import {
  cookieAttributes,
  decode,
  servicesOverOneDatabase,
  signUp,
  tokenIn,
  tokensOf,
} from '../support/http/auth-http.ts';
import { aPerson, cookiePair, type TestService } from '../support/http/service.ts';
import { testKeys } from '../support/keys.ts';
import { keyVariables, PRODUCTION } from '../support/processes/environments.ts';

const ENV = {
  JWT_REFRESH_COOKIE_SECURE: 'true',
  ALLOWED_ORIGINS_DEV: 'https://app.example.org,https://www.example.org:8443',
};
const { start } = servicesOverOneDatabase();
const clock = fixedClock(Date.UTC(2026, 0, 1, 12));
const service = await start(ENV, () => ({ clock }));

type Answer = { readonly headers: Record<string, string | string[] | undefined>; readonly status: number };

const cookiesIn = ({ headers }: Answer): string[] => [headers['set-cookie'] ?? []].flat();
const boundCookieIn = (answer: Answer): string | undefined =>
  cookiesIn(answer).find((line) => line.startsWith('refresh_binding='));
const stringsIn = (header: unknown): string[] =>
  [...String(header).matchAll(/"([^"]*)"/g)].map(([, text = '']) => text);

/** What the response of a log-in invites a browser to. */
const invitationIn = ({ headers }: Answer) => {
  const [path = '', challenge = '', authorization = ''] = stringsIn(headers['secure-session-registration']);
  return { path, challenge, authorization };
};

const send = (cookies: string, headers: Record<string, string> = {}, { http }: TestService = service) =>
  http.post('/auth/device').set({ Cookie: cookies, ...headers });

const askAs = (identifier: string, cookies: string, proof?: string, at = service) =>
  send(
    cookies,
    { 'Sec-Secure-Session-Id': identifier, ...(proof !== undefined && { 'Secure-Session-Response': proof }) },
    at,
  );

const refresh = (cookies: string, { http }: TestService = service) =>
  http.post('/auth/refresh-token').set('Cookie', cookies);

/** Somebody whose browser has registered a key, which the service has not confirmed yet. */
const registered = async (at = service) => {
  const person = aPerson();
  const opened = await at.http.post('/auth/register').send(person).expect(201);
  const browser = browserKey();
  const { challenge, authorization } = invitationIn(opened);
  const answer = await send(
    '',
    { 'Secure-Session-Response': browser.registration(challenge, authorization) },
    at,
  ).expect(200);
  const { accessToken, cookie } = tokensOf(opened);
  const id: string = opened.body.data.user.id;
  return { person, id, accessToken, cookie, browser, identifier: String(answer.body.session_identifier), answer };
};

type Registered = Pick<Awaited<ReturnType<typeof registered>>, 'cookie' | 'browser' | 'identifier'>;

/** Renews with a challenge of now. @returns the response with the bound cookie. */
const renew = async ({ cookie, browser, identifier }: Registered, at = service) => {
  const challenged = await askAs(identifier, cookie, undefined, at).expect(403);
  const [challenge = ''] = stringsIn(challenged.headers['secure-session-challenge']);
  return askAs(identifier, cookie, browser.renewal(challenge), at);
};

/** The same, and the session is bound. */
const bound = async (at = service) => {
  const owner = await registered(at);
  const answer = await renew(owner, at);
  expect(answer.status).toBe(200);
  return { ...owner, renewed: answer, boundCookie: cookiePair(boundCookieIn(answer)) };
};

const bindingOf = async ({ accessToken }: { readonly accessToken: string }, { http }: TestService = service) => {
  const listed = await http.get('/auth/sessions').set('Authorization', `Bearer ${accessToken}`);
  return listed.body.data?.map(({ binding }: { readonly binding: string }) => binding);
};
const codeOf = ({ status, body }: { readonly status: number; readonly body: { readonly code?: string } }) => [
  status,
  body.code,
];

describe('a browser that holds a key', () => {
  it('is invited to register one by a registration and a log-in, and by nothing else', async () => {
    const { person, cookie } = await signUp(service);
    const login = await service.http.post('/auth/login').send({ account: person.email, password: person.password });
    const form = /^\(ES256\);path="\/auth\/device";challenge="[\w.-]+";authorization="[\w.-]+"$/;
    expect(login.get('Secure-Session-Registration')).toMatch(form);
    expect((await registered()).answer.get('Secure-Session-Registration')).toBeUndefined();
    expect((await refresh(cookie).expect(200)).get('Secure-Session-Registration')).toBeUndefined();
  });

  it.each([
    ['over http', { BASE_URL: 'http://auth.example.org' }],
    ['without Secure cookies', { JWT_REFRESH_COOKIE_SECURE: 'false' }],
    ['when it is switched off', { DEVICE_BINDING: 'off' }],
  ])('is not invited %s', async (_when, env) => {
    const other = await start({ ...ENV, ...env });
    const answer = await other.http.post('/auth/register').send(aPerson()).expect(201);
    expect(answer.get('Secure-Session-Registration')).toBeUndefined();
    await send('', {}, other).expect(404);
  });

  it('gets a session of its own, for which only requests that renew wait', async () => {
    const { answer, identifier } = await registered();
    expect(answer.get('Content-Type')).toBe('application/json');
    expect(answer.get('Cache-Control')).toBe('no-store');
    expect(answer.get('Set-Cookie')).toBeUndefined();
    expect(identifier).toMatch(/^[\w.-]{1,300}$/);
    expect(answer.body).toStrictEqual({
      session_identifier: identifier,
      refresh_url: '/auth/device',
      scope: {
        origin: 'https://auth.example.org',
        include_site: false,
        scope_specification: [
          { type: 'exclude', domain: '*', path: '/' },
          { type: 'include', domain: 'auth.example.org', path: '/auth/refresh-token' },
          { type: 'include', domain: 'auth.example.org', path: '/auth/continue' },
        ],
      },
      credentials: [
        { type: 'cookie', name: 'refresh_binding', attributes: 'Path=/auth; Secure; HttpOnly; SameSite=Lax' },
      ],
      allowed_refresh_initiators: ['app.example.org', 'www.example.org'],
    });
  });

  it('gets addresses below the path of BASE_URL', async () => {
    const other = await start({ ...ENV, BASE_URL: 'https://example.org/api', JWT_REFRESH_COOKIE_SAME_SITE: 'none' });
    const { renewed, answer } = await bound(other);
    expect(answer.body).toMatchObject({ refresh_url: '/api/auth/device', scope: { origin: 'https://example.org' } });
    expect(answer.body.credentials[0].attributes).toBe('Path=/api/auth; Secure; HttpOnly; SameSite=None');
    expect(cookieAttributes(boundCookieIn(renewed))).toMatchObject({ Path: '/api/auth', SameSite: 'None' });
  });

  it('binds the session when it renews for the first time, and not before', async () => {
    const owner = await registered();
    expect(await bindingOf(owner)).toEqual(['none']);
    const answer = await renew(owner);
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual(owner.answer.body);
    expect(cookieAttributes(boundCookieIn(answer))).toMatchObject({
      'Max-Age': '600',
      Path: '/auth',
      HttpOnly: true,
      Secure: true,
      SameSite: 'Lax',
    });
    expect(await bindingOf(owner)).toEqual(['browser']);
    await renew(owner);
    const kinds = (await eventsOf(service, owner.id)).map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind === 'device-bound')).toHaveLength(1);
  });

  it('refreshes with its cookie alone, by any token of the session, for ten minutes', async () => {
    const { cookie, boundCookie } = await bound();
    const first = await refresh(`${cookie}; ${boundCookie}`).expect(200);
    expect(first.body.context).toMatchObject({ binding: 'browser' });
    const second = await refresh(`${tokensOf(first).cookie}; ${boundCookie}`).expect(200);
    clock.advance(9 * MINUTE);
    const lost = await refresh(`${cookie}; ${boundCookie}`).expect(200);
    const claimsOf = (answer: Response) => decode(tokenIn(tokensOf(answer).cookie)).claims;
    expect(claimsOf(lost)).toEqual(claimsOf(second));
    clock.advance(MINUTE);
    const late = await refresh(`${tokensOf(second).cookie}; ${boundCookie}`);
    expect(codeOf(late)).toEqual([401, 'AUTH_DEVICE_UNPROVEN']);
  });

  it('wins over the cookie of another session without a key, which comes first', async () => {
    const [owner, other] = [await bound(), await signUp(service)];
    const both = `${other.cookie}; ${owner.cookie}`;
    expect((await renew({ ...owner, cookie: both })).status).toBe(200);
    const { body } = await refresh(`${both}; ${owner.boundCookie}`).expect(200);
    expect(decode(body.data.accessToken).claims.sub).toBe(owner.id);
  });

  it('saves a round trip with the challenge of the last renewal', async () => {
    const owner = await bound();
    let [answer, cookie, boundCookie] = [owner.renewed, owner.cookie, owner.boundCookie];
    for (let round = 0; round < 3; round += 1) {
      cookie = tokensOf(await refresh(`${cookie}; ${boundCookie}`).expect(200)).cookie;
      clock.advance(14 * MINUTE);
      const [ahead = ''] = stringsIn(answer.headers['secure-session-challenge']);
      answer = await askAs(owner.identifier, cookie, owner.browser.renewal(ahead)).expect(200);
      boundCookie = cookiePair(boundCookieIn(answer));
    }
  });

  it.each([
    ['of the refresh before the last', { refreshes: 2, later: 0 }],
    ['of twenty minutes ago', { refreshes: 0, later: 20 * MINUTE }],
  ])('is asked again for a challenge %s', async (_which, { refreshes, later }) => {
    const owner = await bound();
    const [ahead = ''] = stringsIn(owner.renewed.headers['secure-session-challenge']);
    let { cookie } = owner;
    for (let round = 0; round < refreshes; round += 1)
      cookie = tokensOf(await refresh(`${cookie}; ${owner.boundCookie}`).expect(200)).cookie;
    clock.advance(later);
    const answer = await askAs(owner.identifier, cookie, owner.browser.renewal(ahead));
    expect(answer.status).toBe(403);
    expect(boundCookieIn(answer)).toBeUndefined();
    const [next = '', identifier] = stringsIn(answer.headers['secure-session-challenge']);
    expect(identifier).toBe(owner.identifier);
    await askAs(owner.identifier, cookie, owner.browser.renewal(next)).expect(200);
  });

  it('may send its texts as strings of structured fields', async () => {
    const owner = await bound();
    const [ahead = ''] = stringsIn(owner.renewed.headers['secure-session-challenge']);
    const { cookie } = tokensOf(await refresh(`${owner.cookie}; ${owner.boundCookie}`).expect(200));
    await askAs(`"${owner.identifier}"`, cookie, `"${owner.browser.renewal(ahead)}"`).expect(200);
  });

  it('loses its cookies when it logs out, and then its session', async () => {
    const owner = await bound();
    const answer = await service.http.get('/auth/clear-cookie').set('Cookie', owner.cookie).expect(200);
    expect(cookiesIn(answer).map((line) => line.slice(0, line.indexOf(';')))).toEqual([
      'refresh_token=',
      'refresh_binding=',
    ]);
    expect(cookieAttributes(boundCookieIn(answer))).toMatchObject({ 'Max-Age': '0', Path: '/auth' });
    expect(codeOf(await askAs(owner.identifier, owner.cookie))).toEqual([401, 'AUTH_FAILED']);
    expect(codeOf(await askAs(owner.identifier, ''))).toEqual([401, 'AUTH_FAILED']);
  });

  it('goes on after a change of the keys of the service', async () => {
    const { access, refresh: pair } = testKeys();
    const publicKeys = [...pair.publicKeys, ...(service.config.keys?.refresh.publicKeys ?? [])];
    const owner = await bound();
    const env = { ...ENV, ...keyVariables({ access, refresh: { ...pair, publicKeys } }) };
    const rotated = await start(env, () => ({ clock }));
    const refused = await refresh(`${owner.cookie}; ${owner.boundCookie}`, rotated);
    expect(codeOf(refused)).toEqual([401, 'AUTH_DEVICE_UNPROVEN']);
    const [ahead = ''] = stringsIn(owner.renewed.headers['secure-session-challenge']);
    await askAs(owner.identifier, owner.cookie, owner.browser.renewal(ahead), rotated).expect(403);
    const renewed = await renew(owner, rotated);
    await refresh(`${owner.cookie}; ${cookiePair(boundCookieIn(renewed))}`, rotated).expect(200);
  });

  it('calls with the origin of the service, which needs no page in production', async () => {
    const production = await start({ ...PRODUCTION, RATE_LIMITS: 'off' });
    const from = async (Origin: string) => codeOf(await send('', { Origin }, production));
    expect(await from('https://auth.example.org')).toEqual([401, 'AUTH_DEVICE_UNPROVEN']);
    expect(await from('https://evil.example')).toEqual([403, 'SYS_HTTP_UNEXPECTED_ERROR']);
  });
});

const expectUnchanged = async (owner: Awaited<ReturnType<typeof bound>>): Promise<void> => {
  expect(await bindingOf(owner)).toEqual(['browser']);
  expect((await renew(owner)).status).toBe(200);
};

describe('a registration', () => {
  const attempt = async (text: (invitation: ReturnType<typeof invitationIn>, browser: BrowserKey) => string) => {
    const opened = await service.http.post('/auth/register').send(aPerson()).expect(201);
    return send('', { 'Secure-Session-Response': text(invitationIn(opened), browserKey()) });
  };
  const other = async () => invitationIn(await service.http.post('/auth/register').send(aPerson()).expect(201));

  it('is refused without its authorization, or with another challenge', async () => {
    const { challenge: ofOther } = await other();
    const texts: Parameters<typeof attempt>[0][] = [
      ({ challenge }, { sign, jwk }) => sign({ alg: 'ES256', jwk, typ: 'dbsc+jwt' }, { jti: challenge }),
      ({ challenge }, browser) => browser.registration(challenge, challenge),
      ({ authorization }, browser) => browser.registration(authorization, authorization),
      ({ authorization }, browser) => browser.registration('x', authorization),
      ({ authorization }, browser) => browser.registration(ofOther, authorization),
    ];
    for (const text of texts) expect(codeOf(await attempt(text))).toEqual([401, 'AUTH_DEVICE_UNPROVEN']);
  });

  it('is refused five minutes after the log-in', async () => {
    const { challenge, authorization } = await other();
    const text = browserKey().registration(challenge, authorization);
    clock.advance(5 * MINUTE - SECOND);
    await send('', { 'Secure-Session-Response': text }).expect(200);
    clock.advance(SECOND);
    expect(codeOf(await send('', { 'Secure-Session-Response': text }))).toEqual([401, 'AUTH_DEVICE_UNPROVEN']);
  });

  it('of a second browser replaces no key', async () => {
    const opened = await service.http.post('/auth/register').send(aPerson()).expect(201);
    const { challenge, authorization } = invitationIn(opened);
    const { cookie, accessToken } = tokensOf(opened);
    const [owner, thief] = (await Promise.all(
      [browserKey(), browserKey()].map(async (browser) => {
        const answer = await send('', { 'Secure-Session-Response': browser.registration(challenge, authorization) });
        return { cookie, browser, identifier: String(answer.body.session_identifier) };
      }),
    )) as [Registered, Registered];
    expect((await renew(owner)).status).toBe(200);
    expect(codeOf(await renew(thief))).toEqual([401, 'AUTH_DEVICE_UNPROVEN']);
    expect((await renew(owner)).status).toBe(200);
    expect(await bindingOf({ accessToken })).toEqual(['browser']);
  });
});

describe('a renewal', () => {
  it('with another key is refused', async () => {
    const owner = await bound();
    expect(codeOf(await renew({ ...owner, browser: browserKey() }))).toEqual([401, 'AUTH_DEVICE_UNPROVEN']);
    await expectUnchanged(owner);
  });

  it('of a session that is not bound, as another browser, is refused', async () => {
    const [owner, thief] = [await registered(), await registered()];
    const answer = await askAs(thief.identifier, owner.cookie);
    expect(codeOf(answer)).toEqual([401, 'AUTH_DEVICE_UNPROVEN']);
    expect(await bindingOf(owner)).toEqual(['none']);
  });

  it('with a challenge of another session is challenged', async () => {
    const [owner, other] = [await bound(), await bound()];
    const [foreign = ''] = stringsIn(other.renewed.headers['secure-session-challenge']);
    const answer = await askAs(owner.identifier, owner.cookie, owner.browser.renewal(foreign));
    expect(answer.status).toBe(403);
    expect(boundCookieIn(answer)).toBeUndefined();
  });
});

describe('a bound cookie', () => {
  it('of another session proves nothing', async () => {
    const [owner, other] = [await bound(), await bound()];
    const answer = await refresh(`${owner.cookie}; ${other.boundCookie}`);
    expect(codeOf(answer)).toEqual([401, 'AUTH_DEVICE_UNPROVEN']);
    await refresh(`${owner.cookie}; ${other.boundCookie}; ${owner.boundCookie}`).expect(200);
  });

  it.each([
    ['a challenge', 'secure-session-challenge'],
    ['the identifier of the browser', 'identifier'],
  ])('cannot be %s', async (_what, header) => {
    const owner = await bound();
    const [challenge] = stringsIn(owner.renewed.headers['secure-session-challenge']);
    const text = header === 'identifier' ? owner.identifier : challenge;
    const answer = await refresh(`${owner.cookie}; refresh_binding=${text}`);
    expect(codeOf(answer)).toEqual([401, 'AUTH_DEVICE_UNPROVEN']);
  });

  it('means nothing for a session that is not bound', async () => {
    const [owner, other] = [await signUp(service), await bound()];
    await refresh(`${owner.cookie}; ${other.boundCookie}`).expect(200);
  });
});
