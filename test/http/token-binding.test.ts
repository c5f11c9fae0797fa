// Proves theft-2
import type { Response } from 'supertest';
import { describe, expect, it } from 'vitest';
import { fixedClock } from '../support/fixed-clock.ts';
import { decode, servicesOverOneDatabase, signUp, tokenIn } from '../support/http/auth-http.ts';
import { boundUser } from '../support/http/bound-user.ts';
import { cookiePair } from '../support/http/service.ts';
import { type DeviceKey, joseDeviceKey } from '../support/jose-proofs.ts';

const BASE_URL = 'https://auth.example.org';
const ME = '/users/me';
const SESSIONS = '/auth/session';
const OTHER = 'api.example.org';
const OF_OTHER = `https://${OTHER}${ME}`;
const APPLICATION = 'https://app.example.org';
const REFUSED = [401, 'AUTH_TOKEN_INVALID', 'DPoP error="invalid_dpop_proof", algs="ES256"'];
const ON = { JWT_BINDING: 'on', ALLOWED_ORIGINS_DEV: APPLICATION };
const clock = fixedClock(Date.UTC(2030, 0, 1));

const { start } = servicesOverOneDatabase();
const startWith = (env: Readonly<Record<string, string>>) => start(env, () => ({ clock }));
const service = await startWith(ON);
const ada = await boundUser(service);

type Proved = Partial<Parameters<DeviceKey['proof']>[0]> & { readonly of?: typeof ada };
const headersFor = async ({ of = ada, ...more }: Proved = {}) => ({
  Authorization: `DPoP ${of.accessToken}`,
  DPoP: await of.key.proof({ htm: 'GET', htu: BASE_URL + ME, now: clock.now(), accessToken: of.accessToken, ...more }),
});
const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });
const proofAlone = async () => (await headersFor()).DPoP;
const ask = (headers: object, path = ME) => service.http.get(path).set(headers as Record<string, string>);
const told = ({ status, body, headers }: Response) => [status, body.code, headers['www-authenticate']];
const reasons = () => service.logs.flatMap(({ reason }) => reason ?? []);

describe('an access token', () => {
  it('of a session with a key names it, after each way that issues one', async () => {
    const bound = await boundUser(service);
    const { key, person, cookie, accessToken } = bound;
    const proof = await key.proof({ htu: `${BASE_URL}/auth/refresh-token`, now: clock.now() });
    const refreshed = await service.http.post('/auth/refresh-token').set('Cookie', cookie).send({ proof });
    const stepUp = await headersFor({ of: bound, htm: 'POST', htu: `${BASE_URL}/auth/step-up` });
    const stepped = await service.http.post('/auth/step-up').set(stepUp).send({ password: person.password });
    const change = { currentPassword: person.password, newPassword: 'battery staple horse' };
    const put = await headersFor({ of: bound, htm: 'PUT', htu: `${BASE_URL}/users/me/password` });
    const changed = await service.http.put('/users/me/password').set(put).send(change);
    for (const token of [accessToken, ...[refreshed, stepped, changed].map(({ body }) => body.data.accessToken)])
      expect(decode(token).claims.cnf).toEqual({ jkt: key.thumbprint });
  });

  it('of another session, or without JWT_BINDING, is a Bearer token as before', async () => {
    const { accessToken } = await signUp(service);
    const bound = await boundUser(await startWith({}));
    for (const token of [accessToken, bound.accessToken]) {
      expect(decode(token).claims).not.toHaveProperty('cnf');
      await ask(bearer(token)).expect(200);
    }
    expect(told(await ask(await headersFor({ of: bound })))).toEqual(REFUSED);
  });

  it('of the cookie is bound to nothing: a navigation has no proof', async () => {
    const { response, accessToken, user } = await boundUser(await startWith({ ...ON, ACCESS_COOKIE: 'true' }));
    const cookie = response.get('Set-Cookie')?.find((line) => /^(?:__Host-)?access_token=/.test(line));
    expect(decode(accessToken).claims).toHaveProperty('cnf');
    const { claims } = decode(tokenIn(cookiePair(cookie)));
    expect([claims.sub, claims.cnf]).toEqual([user.id, undefined]);
  });
});

describe('a request with a bound token', () => {
  it('has a proof for its method and address, whatever its query', async () => {
    await ask(await headersFor()).expect(200);
    await ask(await headersFor({ htu: `${BASE_URL}/users/me/events` }), '/users/me/events?limit=1').expect(200);
  });

  // Forged proofs are in test/adapters/crypto/device-proofs.test.ts.
  it.each<[string, () => Promise<object>]>([
    ['for another method', () => headersFor({ htm: 'POST' })],
    ['for another path', () => headersFor({ htu: BASE_URL + SESSIONS })],
    ['for a service that passes it on', async () => ({ ...(await headersFor({ htu: OF_OTHER })), Host: OTHER })],
    ['for a token of another session', async () => headersFor({ accessToken: (await boundUser(service)).accessToken })],
    ['for no token, as at a refresh', () => headersFor({ accessToken: '' })],
    ['by another key', async () => headersFor({ of: { ...ada, key: await joseDeviceKey() } })],
    ['of a minute from now', () => headersFor({ now: clock.now() + 61_000 })],
    ['beside another one', async () => ({ ...(await headersFor()), DPoP: await Promise.all([1, 2].map(proofAlone)) })],
    ['that is missing', async () => ({ ...(await headersFor()), DPoP: '' })],
    ['though the scheme is Bearer', async () => ({ DPoP: await proofAlone(), ...bearer(ada.accessToken) })],
    ['that is missing, and as Bearer', async () => bearer(ada.accessToken)],
  ])('is refused with a proof %s', async (_what, headers) => {
    expect(told(await ask(await headers()))).toEqual(REFUSED);
    await ask(await headersFor()).expect(200);
  });

  it('is refused with a proof that was used, until that is too old anyway', async () => {
    const headers = await headersFor({ now: clock.now() + 60_000 });
    await ask(headers).expect(200);
    const before = reasons().length;
    for (const seconds of [0, 119, 2]) {
      clock.advance(seconds * 1_000);
      expect(told(await ask(headers))).toEqual(REFUSED);
    }
    expect(reasons().slice(before)).toEqual(['proof_used', 'proof_used', 'proof_untimely']);
  });

  it('is anonymous without a proof where a token is optional', async () => {
    const isKnown = async (htu: string) =>
      (await ask(await headersFor({ htu: BASE_URL + htu }), SESSIONS)).body.data.authenticated;
    expect([await isKnown(SESSIONS), await isKnown(ME)]).toEqual([true, false]);
  });

  it('may come from a page: the header of the proof is allowed where tokens are bound', async () => {
    const allowed = 'Content-Type, Authorization, svc-request-id';
    for (const [{ http }, names] of [
      [service, `${allowed}, DPoP`],
      [await start({ ...ON, ALLOWED_HEADERS: 'DPoP' }), `${allowed}, DPoP`],
      [await start({ ALLOWED_ORIGINS_DEV: APPLICATION }), allowed],
    ] as const)
      await http.options(ME).set('Origin', APPLICATION).expect('Access-Control-Allow-Headers', names);
  });
});

describe('GET /auth/gateway', () => {
  const [METHOD, HOST, PATH] = ['X-Forwarded-Method', 'X-Forwarded-Host', 'X-Forwarded-Uri'];
  const ASKED = { [METHOD]: 'PUT', [HOST]: 'api.example.com', [PATH]: '/notes/7?draft=1' };
  const OF_API = { htm: 'PUT', htu: 'https://api.example.com/notes/7' };
  const OF_ROUTE = { htm: 'GET', htu: `${BASE_URL}/auth/gateway` };

  it('wants a proof for the request that the gateway asks about', async () => {
    const { status, headers } = await ask({ ...(await headersFor(OF_API)), ...ASKED }, '/auth/gateway');
    const session = decode(ada.accessToken).header.sid;
    expect([status, headers['x-user-id'], headers['x-session-id']]).toEqual([200, ada.user.id, session]);
  });

  it.each([
    ['for another method', OF_API, { [METHOD]: 'GET' }],
    ['for another host', OF_API, { [HOST]: 'b.example.com' }],
    ['for a host that is none', OF_API, { [HOST]: 'a b' }],
    ['for another path', OF_API, { [PATH]: '/notes/8' }],
    ['for what the gateway does not say', OF_API, { [METHOD]: '', [HOST]: '', [PATH]: '' }],
    ['for the route itself', OF_ROUTE, { [METHOD]: 'GET' }],
  ])('refuses one %s', async (_what, proved, said) => {
    expect(told(await ask({ ...(await headersFor(proved)), ...ASKED, ...said }, '/auth/gateway'))).toEqual(REFUSED);
  });
});
