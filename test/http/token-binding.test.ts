// Proves theft-2
import { generateKeyPairSync, hash, type KeyObject } from 'node:crypto';
import { exportJWK, SignJWT } from 'jose';
import type { Response } from 'supertest';
import { beforeAll, describe, expect, it } from 'vitest';
import { fixedClock } from '../support/fixed-clock.ts';
import { compact } from '../support/forgeries/forge.ts';
import { heldFrom, opened, servicesOverOneDatabase, signUp, tokenIn } from '../support/http/auth-http.ts';
import { aPerson, cookiePair, type TestService } from '../support/http/service.ts';
import { type DeviceKey, joseDeviceKey } from '../support/jose-proofs.ts';

const BASE_URL = 'https://auth.example.org';
const ME = '/users/me';
const CHALLENGE = 'DPoP error="invalid_dpop_proof", algs="ES256"';
const APPLICATION = 'https://app.example.org';
const clock = fixedClock(Date.UTC(2030, 0, 1));
const ON = { JWT_BINDING: 'on', ALLOWED_ORIGINS_DEV: APPLICATION };

const { start } = servicesOverOneDatabase();
let service: TestService;
let ada: Awaited<ReturnType<typeof boundUser>>;
beforeAll(async () => {
  service = await start(ON, () => ({ clock }));
  ada = await boundUser();
});

/** A user whose session has the key of a device. */
const boundUser = async (at = service) => {
  const [key, person] = [await joseDeviceKey(), aPerson()];
  const proof = await key.proof({ htu: `${BASE_URL}/auth/register`, now: clock.now() });
  const response = await at.http
    .post('/auth/register')
    .send({ ...person, proof })
    .expect(201);
  return { key, person, response, user: response.body.data.user, ...heldFrom(response) };
};

type Proved = Partial<Parameters<DeviceKey['proof']>[0]> & { readonly by?: DeviceKey };
const proofFor = ({ by = ada.key, ...more }: Proved = {}) =>
  by.proof({ htm: 'GET', htu: BASE_URL + ME, now: clock.now(), accessToken: ada.accessToken, ...more });
const ask = (proof: string, token = ada.accessToken, path = ME) =>
  service.http.get(path).set({ Authorization: `DPoP ${token}`, DPoP: proof });
const told = ({ status, body, headers }: Response) => [status, body.code, headers['www-authenticate']];
const REFUSED = [401, 'AUTH_TOKEN_INVALID', CHALLENGE];
const reasons = () => service.logs.flatMap(({ reason }) => (reason === undefined ? [] : [reason]));

describe('an access token', () => {
  it('of a session with a key names it, after each way that issues one', async () => {
    const { key, person, cookie, accessToken } = await boundUser();
    const refreshProof = await key.proof({ htu: `${BASE_URL}/auth/refresh-token`, now: clock.now() });
    const refreshed = await service.http
      .post('/auth/refresh-token')
      .set('Cookie', cookie)
      .send({ proof: refreshProof })
      .expect(200);
    const withProof = async (path: string, method: 'post' | 'put', token: string, body: object) => {
      const proof = await key.proof({
        ...{ htu: BASE_URL + path, htm: method.toUpperCase(), now: clock.now(), accessToken: token },
      });
      return service.http[method](path)
        .set({ Authorization: `DPoP ${token}`, DPoP: proof })
        .send(body)
        .expect(200);
    };
    const { password } = person;
    const stepped = await withProof('/auth/step-up', 'post', accessToken, { password });
    const newPassword = 'battery staple horse';
    const changed = await withProof('/users/me/password', 'put', accessToken, {
      ...{ currentPassword: password, newPassword },
    });
    for (const token of [accessToken, ...[refreshed, stepped, changed].map(({ body }) => body.data.accessToken)])
      expect(opened(token).claims.cnf).toEqual({ jkt: key.thumbprint });
  });

  it('of another session, or without JWT_BINDING, is a Bearer token as before', async () => {
    const { accessToken } = await signUp(service);
    expect(opened(accessToken).claims).not.toHaveProperty('cnf');
    await service.http.get(ME).set('Authorization', `Bearer ${accessToken}`).expect(200);
    const { accessToken: ofOff } = await boundUser(await start({}, () => ({ clock })));
    expect(opened(ofOff).claims).not.toHaveProperty('cnf');
    // Not as one that is bound, which it is not.
    expect(told(await ask(await proofFor({ accessToken }), accessToken))).toEqual(REFUSED);
  });

  it('of the cookie is bound to nothing: a navigation has no proof', async () => {
    const { response, accessToken, user } = await boundUser(
      await start({ ...ON, ACCESS_COOKIE: 'true' }, () => ({ clock })),
    );
    const cookie = response.get('Set-Cookie')?.find((line) => /^(?:__Host-)?access_token=/.test(line)) ?? '';
    expect(opened(accessToken).claims).toHaveProperty('cnf');
    const { claims } = opened(tokenIn(cookiePair(cookie)));
    expect(claims).toMatchObject({ sub: user.id });
    expect(claims).not.toHaveProperty('cnf');
  });
});

describe('a request with a bound token', () => {
  it('has a proof for its method and address, by any name of the service, whatever its query', async () => {
    await ask(await proofFor()).expect(200);
    await ask(await proofFor({ htu: service.url + ME })).expect(200);
    const events = await proofFor({ htu: `${BASE_URL}/users/me/events` });
    await ask(events, ada.accessToken, '/users/me/events?limit=1').expect(200);
  });

  it.each<[string, () => Promise<string>]>([
    ['another method', () => proofFor({ htm: 'POST' })],
    ['another path', () => proofFor({ htu: `${BASE_URL}/auth/sessions` })],
    ['another host', () => proofFor({ htu: `https://api.example.org${ME}` })],
    ['another token', async () => proofFor({ accessToken: (await boundUser()).accessToken })],
    ['no token, as of a refresh', () => proofFor({ accessToken: '' })],
    ['another key', async () => proofFor({ by: await joseDeviceKey() })],
    ['61 seconds ago', () => proofFor({ now: clock.now() - 61_000 })],
    ['in 61 seconds', () => proofFor({ now: clock.now() + 61_000 })],
  ])('is refused with a proof for or of %s', async (_what, proof) => {
    expect(told(await ask(await proof()))).toEqual(REFUSED);
    await ask(await proofFor()).expect(200);
  });

  it('is refused with a proof that is forged', async () => {
    const claims = { htm: 'GET', htu: BASE_URL + ME, iat: clock.now() / 1_000, jti: crypto.randomUUID() };
    const ath = hash('sha256', ada.accessToken, 'base64url');
    const [header = '', payload = '', signature = ''] = (await proofFor()).split('.');
    const jwk = JSON.parse(Buffer.from(header, 'base64url').toString()).jwk;
    const ofHeader = { typ: 'dpop+jwt', alg: 'ES256', jwk };
    const rsa = generateKeyPairSync('rsa', { modulusLength: 2_048 });
    const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
    const signed = async (alg: string, signer: KeyObject, shown: KeyObject) =>
      new SignJWT({ ...claims, ath })
        .setProtectedHeader({ typ: 'dpop+jwt', alg, jwk: await exportJWK(shown) })
        .sign(signer);
    const forged = [
      ...['', 'x', ada.accessToken, `${header}.${payload}.`, `${header}.${payload}.${signature.slice(2)}AA`],
      compact({ ...ofHeader, alg: 'none' }, { ...claims, ath }, () => Buffer.alloc(0)),
      compact(ofHeader, { ...claims, ath }, () => Buffer.alloc(64)),
      await signed('RS256', rsa.privateKey, rsa.publicKey),
      // A private key in the header, though its owner has signed.
      await signed('ES256', ec, ec),
    ];
    for (const proof of forged) expect([proof, ...told(await ask(proof))]).toEqual([proof, ...REFUSED]);
    const twice = service.http.get(ME).set('Authorization', `DPoP ${ada.accessToken}`);
    expect(told(await twice.set('DPoP', [await proofFor(), await proofFor()] as never))).toEqual(REFUSED);
  });

  it('is refused as Bearer, and without a proof', async () => {
    const before = reasons().length;
    for (const scheme of ['Bearer', 'bearer', 'DPoP'])
      expect(told(await service.http.get(ME).set('Authorization', `${scheme} ${ada.accessToken}`))).toEqual(REFUSED);
    const withProof = { Authorization: `Bearer ${ada.accessToken}`, DPoP: await proofFor() };
    expect(told(await service.http.get(ME).set(withProof))).toEqual(REFUSED);
    expect(reasons().slice(before)).toEqual(['proof_missing', 'proof_missing', 'proof_invalid', 'proof_missing']);
  });

  it('is refused with a proof that was used, until that is too old anyway', async () => {
    const proof = await proofFor({ now: clock.now() + 60_000 });
    await ask(proof).expect(200);
    const before = reasons().length;
    expect(told(await ask(proof))).toEqual(REFUSED);
    clock.advance(119_000);
    expect(told(await ask(proof))).toEqual(REFUSED);
    clock.advance(2_000);
    expect(told(await ask(proof))).toEqual(REFUSED);
    expect(reasons().slice(before)).toEqual(['proof_used', 'proof_used', 'proof_untimely']);
  });

  it('is refused for another reason as any token', async () => {
    const { accessToken, key } = await boundUser();
    clock.advance(16 * 60_000);
    const answer = await ask(await proofFor({ by: key, accessToken }), accessToken);
    expect(told(answer)).toEqual([401, 'AUTH_TOKEN_INVALID', 'Bearer error="invalid_token"']);
    ada = await boundUser();
  });

  it('is anonymous without a proof where a token is optional', async () => {
    const asked = async (proof: string) => (await ask(proof, ada.accessToken, '/auth/session')).body.data.authenticated;
    expect(await asked(await proofFor({ htu: `${BASE_URL}/auth/session` }))).toBe(true);
    expect(await asked(await proofFor())).toBe(false);
  });

  it('may come from a page: the header of the proof is allowed where tokens are bound', async () => {
    const allowed = async ({ http }: TestService) =>
      (await http.options(ME).set({ Origin: APPLICATION, 'Access-Control-Request-Method': 'GET' })).headers[
        'access-control-allow-headers'
      ];
    expect(await allowed(service)).toBe('Content-Type, Authorization, svc-request-id, DPoP');
    expect(await allowed(await start({ ALLOWED_ORIGINS_DEV: APPLICATION }))).not.toContain('DPoP');
  });
});

describe('GET /auth/gateway', () => {
  const API = 'https://api.example.com/notes/7';
  const asked = async (more: Record<string, string> = {}, of: Proved = {}) =>
    service.http.get('/auth/gateway').set({
      ...{ Authorization: `DPoP ${ada.accessToken}`, DPoP: await proofFor({ htu: API, htm: 'PUT', ...of }) },
      ...{ 'X-Forwarded-Method': 'PUT', 'X-Forwarded-Host': 'api.example.com', 'X-Forwarded-Uri': '/notes/7?draft=1' },
      ...more,
    });

  it('wants a proof for the request that the gateway asks about', async () => {
    const { status, headers } = await asked();
    expect(status).toBe(200);
    expect(headers).toMatchObject({ 'x-user-id': ada.user.id });
  });

  it.each([
    ['method', { 'X-Forwarded-Method': 'DELETE' }],
    ['host', { 'X-Forwarded-Host': 'other.example.com' }],
    ['path', { 'X-Forwarded-Uri': '/notes/8' }],
    ['nothing', { 'X-Forwarded-Method': '', 'X-Forwarded-Host': '', 'X-Forwarded-Uri': '' }],
    ['a host that is none', { 'X-Forwarded-Host': 'a b' }],
  ])('refuses one for another %s', async (_what, headers) => {
    expect(told(await asked(headers))).toEqual(REFUSED);
  });

  it('refuses one for the route itself', async () => {
    expect(told(await asked({}, { htu: `${BASE_URL}/auth/gateway`, htm: 'GET' }))).toEqual(REFUSED);
  });
});

describe('GET /.well-known/oauth-authorization-server', () => {
  it('says with which algorithm proofs are signed', async () => {
    const { http } = await start({ ...ON, JWT_ISSUER: BASE_URL });
    const { body } = await http.get('/.well-known/oauth-authorization-server').expect(200);
    expect(body).toMatchObject({ dpop_signing_alg_values_supported: ['ES256'] });
  });
});
