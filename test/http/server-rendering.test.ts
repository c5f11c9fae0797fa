// Proves website-8, theft-9
import type { Response } from 'supertest';
import { describe, expect, it } from 'vitest';
import { MINUTE, SECOND } from '../support/application.ts';
import { fixedClock } from '../support/fixed-clock.ts';
import { eventsOf } from '../support/http/account.ts';
import { ALL_ROUTES, PAGE_SERVER } from '../support/http/all-routes.ts';
import {
  cookieAttributes,
  decode,
  refreshWith,
  servicesOverOneDatabase,
  signUp,
  tokenIn,
  tokensOf,
} from '../support/http/auth-http.ts';
import { boundUser } from '../support/http/bound-user.ts';
import { exchangeRaw, head } from '../support/http/raw-http.ts';
import { aPerson, cookiePair } from '../support/http/service.ts';
import { tally } from '../support/tally.ts';

const APPLICATION = 'https://app.example.org';
const LOGIN_PAGE = `${APPLICATION}/log-in?from=pages`;
const ENV = { ...ALL_ROUTES, ALLOWED_ORIGINS_DEV: APPLICATION, LOGIN_PAGE_URL: LOGIN_PAGE };
const TO = `${APPLICATION}/notes?page=2`;
const NAVIGATION = { 'Sec-Fetch-Mode': 'navigate', 'Sec-Fetch-Dest': 'document' };

const clock = fixedClock(Date.UTC(2026, 0, 1, 12));
const { start } = servicesOverOneDatabase();
const service = await start(ENV, () => ({ clock }));

const cookiesIn = (response: Response): string[] => response.get('Set-Cookie') ?? [];
const accessCookieIn = (response: Response): string | undefined =>
  cookiesIn(response).find((line) => /^(?:__Host-|__Secure-)?access_token=/.test(line));
const namesIn = (response: Response): string[] => cookiesIn(response).map((line) => line.replace(/=.*/s, ''));

const refreshCookieIn = (response: Response): string =>
  cookiePair(cookiesIn(response).find((line) => line.startsWith('refresh_token=')));

const navigate = (cookie: string, to = TO, headers: Record<string, string> = NAVIGATION, at = service) =>
  at.http
    .get('/auth/continue')
    .query({ to, utm_source: 'mail' })
    .set({ ...headers, Cookie: cookie });
const loginPageFor = (to: string) => `${LOGIN_PAGE}&to=${encodeURIComponent(to).replaceAll('%20', '+')}`;

describe('the cookie of the access token', () => {
  it('comes with each response that sets the refresh cookie, lives as long as the token, and belongs to the host', async () => {
    const person = aPerson();
    const registration = await service.http.post('/auth/register').send(person).expect(201);
    const login = await service.http.post('/auth/login').send({ account: person.username, password: person.password });
    const { cookie, accessToken } = tokensOf(login);
    const refreshed = await refreshWith(service, cookie).expect(200);
    const change = { currentPassword: person.password, newPassword: 'battery staple horse' };
    const changed = await service.http
      .put('/users/me/password')
      .set('Authorization', `Bearer ${accessToken}`)
      .send(change)
      .expect(200);
    for (const response of [registration, login, refreshed, changed]) {
      const line = accessCookieIn(response);
      expect(line?.split(';')[0]).toBe(`__Host-access_token=${response.body.data.accessToken}`);
      const { Expires: _, ...attributes } = cookieAttributes(line);
      expect(attributes).toEqual({ 'Max-Age': '900', Path: '/', HttpOnly: true, Secure: true, SameSite: 'Lax' });
    }
    const bearer = { Authorization: `Bearer ${changed.body.data.accessToken}` };
    const stepped = await service.http.post('/auth/step-up').set(bearer).send({ password: change.newPassword });
    expect(accessCookieIn(stepped)).toContain(stepped.body.data.accessToken);
    expect(namesIn(stepped)).toEqual(['__Host-access_token']);
  });

  it('is removed by a log-out and with the account', async () => {
    const { cookie } = await signUp(service);
    const out = await service.http.get('/auth/clear-cookie').set('Cookie', cookie).expect(200);
    expect(cookieAttributes(accessCookieIn(out))).toMatchObject({ 'Max-Age': '0', Path: '/' });
    const { accessToken, person } = await signUp(service);
    const { password } = person;
    const gone = await service.http
      .delete('/users/me')
      .set('Authorization', `Bearer ${accessToken}`)
      .send({ password });
    expect(cookieAttributes(accessCookieIn(gone))).toMatchObject({ 'Max-Age': '0', Path: '/' });
  });

  it('is removed when the session ends that asks, and not with another one', async () => {
    const { person } = await signUp(service);
    const logIn = () => service.http.post('/auth/login').send({ account: person.username, password: person.password });
    const second = tokensOf(await logIn().expect(200));
    const bearer = { Authorization: `Bearer ${second.accessToken}` };
    const list = (await service.http.get('/auth/sessions').set(bearer).expect(200)).body.data;
    const end = (current: boolean) => {
      const { id } = list.find((session: { current: boolean }) => session.current === current);
      return service.http.delete(`/auth/sessions/${id}`).set(bearer).expect(200);
    };
    expect(cookiesIn(await end(false))).toEqual([]);
    const own = await end(true);
    expect(namesIn(own)).toEqual(['__Host-access_token']);
    expect(cookieAttributes(accessCookieIn(own))).toMatchObject({ 'Max-Age': '0', Path: '/' });
    const third = tokensOf(await logIn().expect(200));
    const all = await service.http
      .delete('/auth/sessions')
      .set('Authorization', `Bearer ${third.accessToken}`)
      .expect(200);
    expect(cookieAttributes(accessCookieIn(all))).toMatchObject({ 'Max-Age': '0', Path: '/' });
  });

  it('is removed by a navigation whose session has ended, and not by one that brought no refresh cookie', async () => {
    const { cookie } = await signUp(service);
    await service.http.get('/auth/clear-cookie').set('Cookie', cookie).expect(200);
    const ended = await navigate(cookie);
    expect([ended.status, ended.headers.location]).toEqual([303, loginPageFor(TO)]);
    expect(namesIn(ended)).toEqual(['__Host-access_token']);
    expect(cookieAttributes(accessCookieIn(ended))).toMatchObject({ 'Max-Age': '0', Path: '/' });
    expect(cookiesIn(await navigate(''))).toEqual([]);
  });

  it.each([
    ['has a plain name over http', { JWT_REFRESH_COOKIE_SECURE: 'false' }, 'access_token', {}],
    [
      'is for all hosts of a domain that is configured',
      { ACCESS_COOKIE_DOMAIN: 'example.org' },
      '__Secure-access_token',
      { Domain: 'example.org' },
    ],
  ])('%s', async (_what, env, name, attributes) => {
    const other = await start({ ...ENV, ...env });
    const line = accessCookieIn(await other.http.post('/auth/register').send(aPerson()).expect(201));
    expect(line).toMatch(new RegExp(`^${name}=`));
    expect(cookieAttributes(line)).toMatchObject(attributes);
  });

  it('is not there by default, and no route of the service reads it', async () => {
    const plain = await start();
    expect(namesIn(await plain.http.post('/auth/register').send(aPerson()).expect(201))).toEqual(['refresh_token']);
    const { accessToken } = await signUp(service);
    const cookie = `__Host-access_token=${accessToken}; access_token=${accessToken}`;
    await service.http.get('/users/me').set('Cookie', cookie).expect(401);
    const session = await service.http.get('/auth/session').set('Cookie', cookie).expect(200);
    expect(session.body.data.authenticated).toBe(false);
  });
});

describe('a navigation that continues', () => {
  it('renews the session once, sets both cookies, and goes on to the page; with a token of before, it ends the session', async () => {
    const { cookie, user } = await signUp(service);
    const response = await navigate(cookie).expect(303);
    expect(response.get('Location')).toBe(TO);
    expect(response.get('Cache-Control')).toBe('no-store');
    expect(namesIn(response)).toEqual(['refresh_token', '__Host-access_token']);
    expect(decode(tokenIn(cookiePair(accessCookieIn(response)))).claims.sub).toBe(user.id);
    // Another tab has lost the race.
    const late = await navigate(cookie).expect(303);
    expect([late.get('Location'), cookiesIn(late)]).toEqual([TO, []]);
    clock.advance(MINUTE);
    expect((await navigate(cookie).expect(303)).get('Location')).toBe(loginPageFor(TO));
    await refreshWith(service, refreshCookieIn(response)).expect(401);
  });

  it('goes to the page that logs in, without a session, and takes the page along', async () => {
    const { cookie } = await signUp(service);
    await service.http.get('/auth/clear-cookie').set('Cookie', cookie);
    for (const none of ['', 'refresh_token=garbage', cookie]) {
      const response = await navigate(none).expect(303);
      expect(response.get('Location')).toBe(loginPageFor(TO));
      expect(namesIn(response)).not.toContain('refresh_token');
    }
  });

  it('that comes a moment after another one has renewed the session gets the access token alone', async () => {
    const { cookie, user } = await signUp(service);
    const next = refreshCookieIn(await navigate(cookie).expect(303));
    clock.advance(9 * SECOND);
    const later = await navigate(next).expect(303);
    expect(later.get('Location')).toBe(TO);
    expect(namesIn(later)).toEqual(['__Host-access_token']);
    expect(decode(tokenIn(cookiePair(accessCookieIn(later)))).claims.sub).toBe(user.id);
    clock.advance(2 * SECOND);
    expect(namesIn(await navigate(next).expect(303))).toEqual(['refresh_token', '__Host-access_token']);
  });

  it('that brings a stolen token of another session ends that one, also right after a renewal', async () => {
    const own = await signUp(service);
    const other = await signUp(service);
    const otherNext = tokensOf(await refreshWith(service, other.cookie).expect(200));
    clock.advance(11 * SECOND);
    const next = refreshCookieIn(await navigate(own.cookie).expect(303));
    await navigate(`${next}; ${other.cookie}`).expect(303);
    await refreshWith(service, otherNext.cookie).expect(401);
    expect((await eventsOf(service, other.user.id)).map(({ reason }) => reason)).toContain('token-replayed');
  });

  it('goes to no page of another site, renews nothing for it, and says so on a page', async () => {
    const { cookie } = await signUp(service);
    const response = await navigate(cookie, 'https://evil.example', { ...NAVIGATION, Accept: 'text/html' }).expect(400);
    expect(response.get('Content-Type')).toBe('text/html; charset=utf-8');
    expect(response.text).toContain('<code>CLIENT_<wbr>PARAMS_<wbr>VALIDATION_<wbr>FAILED</code>');
    expect(response.get('Location')).toBeUndefined();
    await refreshWith(service, cookie).expect(200);
  });
});

it('a navigation of a browser with the key of its session gets a page that proves it, renews nothing, and is no attempt', async () => {
  const { cookie, key, user } = await boundUser(service);
  const hostile = `${TO}"><script>alert(1)</script>`;
  for (const to of [TO, hostile]) {
    const response = await navigate(cookie, to).expect(200);
    expect(response.get('Content-Type')).toBe('text/html; charset=utf-8');
    expect(response.get('Content-Security-Policy')).toContain("script-src 'self'");
    expect(response.get('Cache-Control')).toBe('no-store');
    expect(cookiesIn(response)).toEqual([]);
    expect(response.text).not.toContain('<script>alert');
  }
  expect((await eventsOf(service, user.id)).map(({ kind }) => kind)).not.toContain('device-unproven');
  const proof = await key.proof({ htu: 'https://auth.example.org/auth/refresh-token', now: clock.now() });
  await refreshWith(service, cookie).send({ proof }).expect(200);
});

describe('an access token for a page server', () => {
  const ask = (cookie: string, headers: Record<string, string> = { Authorization: PAGE_SERVER }, at = service) =>
    at.http.post('/auth/access-token').set({ ...headers, Cookie: cookie });

  it('is that of the visitor, and changes nothing, however often it is asked for', async () => {
    const { cookie, user } = await signUp(service);
    const before = await service.ports.sessions.listByUser(user.id, clock.now());
    const responses = await Promise.all(Array.from({ length: 20 }, () => ask(cookie)));
    expect(tally(responses)).toEqual({ '200': 20 });
    for (const response of responses) {
      expect(decode(response.body.data.accessToken).claims.sub).toBe(user.id);
      expect(cookiesIn(response)).toEqual([]);
    }
    expect(await service.ports.sessions.listByUser(user.id, clock.now())).toEqual(before);
    const [first] = responses;
    const bearer = { Authorization: `Bearer ${first?.body.data.accessToken}` };
    await service.http.get('/users/me').set(bearer).expect(200);
  });

  it('is still made with a token that the browser has just rotated; later the token is stolen, and the session ends', async () => {
    const { cookie, user } = await signUp(service);
    const next = tokensOf(await refreshWith(service, cookie).expect(200));
    clock.advance(9 * SECOND);
    await ask(cookie).expect(200);
    clock.advance(2 * SECOND);
    await ask(next.cookie).expect(200);
    const forVisitor = { Authorization: PAGE_SERVER, 'X-Visitor-Address': '192.0.2.1' };
    expect((await ask(cookie, forVisitor).expect(401)).body.code).toBe('AUTH_FAILED');
    expect((await ask(next.cookie).expect(401)).body.code).toBe('AUTH_FAILED');
    await refreshWith(service, next.cookie).expect(401);
    const [latest] = await eventsOf(service, user.id);
    expect(latest).toMatchObject({ kind: 'session-ended', reason: 'token-replayed', address: '192.0.2.0/24' });
  });

  it('is refused without a session, for a disabled account, and for a session with a key of its device', async () => {
    const { cookie, user } = await signUp(service);
    for (const none of ['', 'refresh_token=garbage'])
      expect((await ask(none).expect(401)).body.code).toBe('AUTH_FAILED');
    await service.ports.users.update(user.id, { disabledAt: clock.now(), now: clock.now() });
    expect((await ask(cookie).expect(401)).body.code).toBe('AUTH_FAILED');
    const held = await boundUser(service);
    expect((await ask(held.cookie).expect(401)).body.code).toBe('AUTH_DEVICE_UNPROVEN');
  });

  it.each([
    ['nothing', {}],
    ['another secret', { Authorization: `Basic ${btoa('pages:another')}` }],
    ['another id', { Authorization: `Basic ${btoa(`others:${atob(PAGE_SERVER.slice(6)).slice(6)}`)}` }],
    ['the hash', { Authorization: `Basic ${btoa(ALL_ROUTES.PAGE_SERVERS)}` }],
    ['an access token', { Authorization: 'Bearer abc' }],
    ['garbage', { Authorization: 'Basic %%%' }],
    ['no colon', { Authorization: `Basic ${btoa('pages')}` }],
  ])('is not for whoever shows %s', async (_what, headers) => {
    const { cookie } = await signUp(service);
    const response = await ask(cookie, headers).expect(401);
    expect(response.body.code).toBe('AUTH_PAGE_SERVER_UNKNOWN');
    expect(response.get('WWW-Authenticate')).toBe('Basic realm="page server"');
  });

  it('is not for whoever sends a second header beside the right one', async () => {
    const { cookie } = await signUp(service);
    const headers = { Cookie: cookie, Connection: 'close', Authorization: PAGE_SERVER };
    const send = (more: Record<string, string>) =>
      exchangeRaw(service.url, head('POST /auth/access-token', { ...headers, ...more }));
    expect((await send({})).status).toBe(200);
    expect((await send({ authorization: 'Basic another' })).status).toBe(401);
  });

  it('is counted for each visitor, and for nobody else by what they say', async () => {
    const limited = await start({ ...ENV, RATE_LIMITS: 'global=2/60,strict=off,public=off' }, () => ({ clock }));
    const { cookie } = await signUp(limited);
    const visitor = (address: string, authorization = PAGE_SERVER) =>
      ask(cookie, { Authorization: authorization, 'X-Visitor-Address': address }, limited);
    for (const address of ['198.51.100.1', '198.51.100.2', '2001:db8:1::1']) {
      await visitor(address).expect(200);
      await visitor(address).expect(200);
      await visitor(address).expect(429);
    }
    const stranger = `Basic ${btoa('pages:another')}`;
    await visitor('198.51.100.7', stranger).expect(401);
    await visitor('198.51.100.8', stranger).expect(401);
    await visitor('198.51.100.9', stranger).expect(429);
    // An address that is none counts as that of the page server, which the strangers have used up here.
    await visitor('nobody').expect(429);
    // With a port, it is that of the visitor.
    await visitor('198.51.100.99:4711').expect(200);
  });

  it('is a route only if there are page servers', async () => {
    const plain = await start();
    await plain.http.post('/auth/access-token').expect(404);
    await plain.http.get('/auth/continue').expect(404);
  });
});
