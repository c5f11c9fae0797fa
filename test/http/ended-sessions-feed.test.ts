import { setTimeout as pause } from 'node:timers/promises';
import { createRemoteJWKSet, decodeJwt, jwtVerify } from 'jose';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { listEnded } from '../../src/application/storage/events.ts';
import type { Records } from '../../src/application/storage/records.ts';
import type { EndedList } from '../../src/domain/ended-session.ts';
import { AppError } from '../../src/domain/errors/app-error.ts';
import { decode, refreshWith, servicesOverOneDatabase, signUp } from '../support/http/auth-http.ts';
import { cookiePair, refreshCookieOf, type TestService } from '../support/http/service.ts';
import { atCall } from '../support/records/at-call.ts';

const PATH = '/.well-known/ended-sessions';

const { start } = servicesOverOneDatabase();
/** What the store of the service does instead of listing. */
let listing: (() => Promise<never>) | null = null;
const failing = (records: Records): Records =>
  atCall(records, ['list', 'endedSessions'], (list) => (listing === null ? list() : listing()));
const service = await start({ JWT_ISSUER: 'https://auth.example.org', JWT_AUDIENCE: 'the-api' }, ({ records }) => ({
  records: failing(records),
}));
beforeEach(() => {
  listing = null;
});

type SignedUp = Awaited<ReturnType<typeof signUp>>;
const sessionOf = ({ accessToken }: Pick<SignedUp, 'accessToken'>) => String(decode(accessToken).header.sid);
const logOut = ({ cookie }: SignedUp, at = service) =>
  at.http.get('/auth/clear-cookie').set('Cookie', cookie).expect(200);
const fetchList = ({ url }: TestService, etag = '', wait?: number, signal?: AbortSignal) =>
  fetch(`${url}${PATH}${wait === undefined ? '' : `?wait=${wait}`}`, {
    headers: { 'If-None-Match': etag },
    ...(signal && { signal }),
  });
const listOf = async (at = service) => decodeJwt<EndedList>(await (await fetchList(at)).text());
/** Until what was committed is on the list: at most a second later, since one is signed each second. */
const listed = (sid: string, at = service) =>
  expect.poll(async () => (await listOf(at)).sessions.find((each) => each.sid === sid)).toBeDefined();
const etagOf = async (at = service) => (await fetchList(at)).headers.get('etag') ?? '';

describe('GET /.well-known/ended-sessions', () => {
  it('is a JWT of its own type by a key of the key set, which is no access token', async () => {
    const ada = await signUp(service);
    await logOut(ada);
    await listed(sessionOf(ada));
    const response = await fetchList(service);
    expect(response.headers.get('content-type')).toBe('application/jwt');
    expect(response.headers.get('cache-control')).toBe('public, max-age=1');
    const text = await response.text();
    const keys = createRemoteJWKSet(new URL(`${service.url}/.well-known/jwks.json`));
    const expected = { typ: 'ended-sessions+jwt', issuer: 'https://auth.example.org', audience: 'ended-sessions' };
    const { payload } = await jwtVerify<EndedList>(text, keys, { ...expected, maxTokenAge: 300, clockTolerance: 5 });
    expect(Object.keys(payload).sort()).toEqual(['aud', 'iat', 'iss', 'lifetime', 'sessions', 'users']);
    expect(payload.sessions[0]).toMatchObject({ sid: sessionOf(ada), initiating_entity: 'user', reason: 'logout' });
    await service.http.get('/users/me').set('Authorization', `Bearer ${text}`).expect(401);
  });

  it.each(['wait=', 'wait=0', 'wait=26', 'wait=-1', 'wait=1.5', 'wait=1&wait=2', 'since=1'])(
    'refuses %s',
    async (query) => {
      await service.http.get(`${PATH}?${query}`).expect(400);
    },
  );

  it('is not filled by log-ins on devices that have a session, which each replaces', async () => {
    const before = await listEnded(service.ports.records, 0, 10_000);
    const { cookie, person, user } = await signUp(service);
    const login = { account: person.email, password: person.password };
    let own = cookie;
    for (let count = 0; count < 3; count += 1) {
      const response = await service.http.post('/auth/login').set('Cookie', own).send(login).expect(200);
      own = cookiePair(refreshCookieOf(response));
    }
    expect(await service.ports.sessions.listByUser(user.id, Date.now())).toHaveLength(1);
    expect(await listEnded(service.ports.records, 0, 10_000)).toStrictEqual(before);
  });

  it('has a session that a log-in replaces if somebody else has refreshed it', async () => {
    const ada = await signUp(service);
    await refreshWith(service, ada.cookie).expect(200);
    const { username: account, password } = ada.person;
    await service.http.post('/auth/login').set('Cookie', ada.cookie).send({ account, password }).expect(200);
    await listed(sessionOf(ada));
  });

  it('is read once and signed once, however many ask', async () => {
    let [read, signed] = [0, 0];
    const sign = service.ports.tokens.signEnded ?? expect.unreachable();
    const signEnded: typeof sign = (...given) => {
      signed += 1;
      return sign(...given);
    };
    const counting = await start({}, ({ records }) => ({
      records: atCall(records, ['list', 'endedSessions'], (list) => {
        read += 1;
        return list();
      }),
      tokens: { ...service.ports.tokens, signEnded },
    }));
    const texts = await Promise.all(Array.from({ length: 50 }, async () => (await fetchList(counting)).text()));
    expect(new Set(texts).size).toBe(signed);
    expect(signed).toBe(1);
    expect(read).toBeLessThan(10);
  });

  it('is answered by 503 while the store fails, also to those who wait, and then as before', async () => {
    const etag = await etagOf();
    const waiting = fetchList(service, etag, 25);
    listing = () => Promise.reject(new AppError('DB_QUERY_FAILED'));
    expect((await waiting).status).toBe(503);
    const { body, headers } = await service.http.get(PATH).expect(503);
    expect(body).toMatchObject({ success: false, code: 'SYS_HTTP_UNEXPECTED_ERROR' });
    expect(headers['retry-after']).toBe('1');
    listing = null;
    expect((await fetchList(service)).status).toBe(200);
  });
});

describe('GET /.well-known/ended-sessions?wait=', () => {
  it('answers at once without a matching entity tag, and with 304 when nothing has ended in time', async () => {
    expect((await fetchList(service, '"another"', 25)).status).toBe(200);
    // Again while what ended before is still added to the list.
    await vi.waitFor(async () => {
      const [etag, began] = [await etagOf(), performance.now()];
      const unchanged = await fetchList(service, etag, 1);
      expect([unchanged.status, unchanged.headers.get('etag')]).toEqual([304, etag]);
      expect(performance.now() - began).toBeGreaterThan(950);
    }, 60_000);
  });

  it.each([
    ['here', 0],
    ['at another instance', 1],
  ])('answers when a session is ended %s, and is not taken for slow', async (_where, other) => {
    const instances = [service, await start({ SLOW_REQUEST_THRESHOLDS: '{"warn":900,"error":900}' })] as const;
    const [ending, asked] = other === 0 ? [instances[1], instances[1]] : instances;
    const ada = await signUp(ending);
    const waiting = fetchList(asked, await etagOf(asked), 25);
    await pause(1_000);
    await logOut(ada, ending);
    const list = decodeJwt<EndedList>(await (await waiting).text());
    expect(list.sessions.map(({ sid }) => sid)).toContain(sessionOf(ada));
    const lines = asked.logs.filter(({ route, level }) => route === 'ended-sessions' && level !== 'debug');
    expect(lines).toEqual([]);
  });
});

it('JWT_SESSION_CLAIM names the session in a claim, too', async () => {
  const { claims } = decode((await signUp(service)).accessToken);
  expect(claims).not.toHaveProperty('sid');
  const naming = await start({ JWT_SESSION_CLAIM: 'true' });
  const ada = await signUp(naming);
  expect(decode(ada.accessToken).claims.sid).toBe(sessionOf(ada));
  await naming.http.get('/users/me').set('Authorization', `Bearer ${ada.accessToken}`).expect(200);
});
