// Proves SPEC 8.7, 8.13; ASVS 7.2.1, 9.1.1, 9.1.3, 9.2.2; network-2, network-3, network-5, website-4
import { createPublicKey, type KeyObject } from 'node:crypto';
import { createServer } from 'node:http';
import type { Response } from 'supertest';
import { describe, expect, it } from 'vitest';
import { compact, ecdsa, encoded, hmac, type Json, partsOf, type Signer } from '../support/forgeries/forge.ts';
import { decode, refreshWith, servicesOverOneDatabase, signUp, tokenIn, tokensOf } from '../support/http/auth-http.ts';
import { exchangeRaw, head } from '../support/http/raw-http.ts';
import { testKeyPair } from '../support/keys.ts';
import { listenOnLoopback } from '../support/listen.ts';

const { start } = servicesOverOneDatabase();
const attacker = testKeyPair();
const jwk = createPublicKey(attacker.privateKey).export({ format: 'jwk' });
/** The attacker's server, with a matching key set. The service must never request it. */
let keySetRequests = 0;
const attackerServer = createServer((_request, response) => {
  keySetRequests += 1;
  response.end(JSON.stringify({ keys: [{ ...jwk, alg: 'ES256' }] }));
});

const url = `${(await listenOnLoopback(attackerServer)).url}/jwks.json`;
const service = await start();
const victim = await signUp(service);

const me = (authorization: string) => service.http.get('/users/me').set('Authorization', authorization);
const cookieOf = (token: string) => `refresh_token=${encodeURIComponent(token)}`;
const sessionOfVictim = () => {
  const { header } = decode(victim.accessToken);
  return service.ports.sessions.find({ id: String(header.sid), userId: victim.user.id });
};

/** The parts of a token that are long enough to search for. */
const searchableParts = (token: string): string[] => [token, ...token.split('.')].filter((part) => part.length > 12);

/** Expects that an attack is refused, shows and logs nothing of the token, and does not affect the victim. */
const expectRefused = async (token: string, attack: () => PromiseLike<Response>, code: string, expected = 401) => {
  const [before, logged] = [await sessionOfVictim(), service.logs.length];
  const { status, body, headers, text } = await attack();
  expect([status, body.code]).toEqual([expected, code]);
  expect(headers).not.toHaveProperty('set-cookie');
  expect(await sessionOfVictim()).toEqual(before);
  expect(before).not.toBeNull();
  await me(`Bearer ${victim.accessToken}`).expect(200);

  const lines = service.logs.slice(logged);
  expect(lines.filter(({ level }) => level === 'error' || level === 'fatal')).toEqual([]);
  const output = JSON.stringify(lines) + text + JSON.stringify(headers);
  expect(searchableParts(token).filter((trace) => output.includes(trace))).toEqual([]);
};

type Kind = 'access' | 'refresh';
/** A valid token of the victim, with its content and the keys of its kind. */
type Material = { readonly token: string; readonly header: Json; readonly claims: Json; readonly key: KeyObject };
const materialOf = (kind: Kind): Material => {
  const token = kind === 'access' ? victim.accessToken : tokenIn(victim.cookie);
  const keys = service.config.keys ?? expect.unreachable('the service has no keys');
  return { token, ...decode(token), key: keys[kind].privateKey };
};
const resigned =
  (changes: Json, signer: (key: KeyObject) => Signer = ecdsa) =>
  ({ header, claims, key }: Material) =>
    compact({ ...header, ...changes }, claims, signer(key));
const byAttacker = (changes: Json) => resigned(changes, () => ecdsa(attacker.privateKey));

/** What the verifier refuses besides is in the tests of the signer, and in Wycheproof's vectors. */
const FORGERIES: Readonly<Record<string, (material: Material) => string>> = {
  'without an algorithm': resigned({ alg: 'none' }, () => () => Buffer.alloc(0)),
  'with the public key as a secret': resigned({ alg: 'HS256' }, (key) =>
    hmac(createPublicKey(key).export({ format: 'pem', type: 'spki' }).toString()),
  ),
  'with a key in its header': byAttacker({ jwk }),
  'with the address of a key set': (material) => byAttacker({ jku: url, x5u: url })(material),
  'with a key id of another place': byAttacker({ kid: '../../dev/null' }),
  'with a critical extension': resigned({ crit: ['b64'], b64: false }),
  'with other claims': ({ token, claims }) =>
    [partsOf(token)[0], encoded({ ...claims, exp: 9_999_999_999 }), partsOf(token)[2]].join('.'),
  'that the service has signed for another use': ({ token }) =>
    token === victim.accessToken ? tokenIn(victim.cookie) : victim.accessToken,
};

it('the unchanged tokens are accepted, so that an attack fails because of its change', async () => {
  await me(`Bearer ${resigned({})(materialOf('access'))}`).expect(200);
  const outcome = await service.ports.tokens.verifyRefresh(resigned({})(materialOf('refresh')), Date.now());
  expect(outcome.ok).toBe(true);
});

describe.each(Object.entries(FORGERIES))('a token %s is refused', (_what, forge) => {
  it('by the guard', async () => {
    const token = forge(materialOf('access'));
    await expectRefused(token, () => me(`Bearer ${token}`), 'AUTH_TOKEN_INVALID');
  });

  it('by refresh, which goes on with a valid one beside it, and by a log-out', async () => {
    const token = forge(materialOf('refresh'));
    await expectRefused(token, () => refreshWith(service, cookieOf(token)), 'AUTH_FAILED');
    const other = await signUp(service);
    await refreshWith(service, `${cookieOf(token)}; ${other.cookie}`).expect(200);
    await service.http.get('/auth/clear-cookie').set('Cookie', cookieOf(token)).expect(200);
    expect(await sessionOfVictim()).not.toBeNull();
  });
});

it.each([' ', '\t', '\n', '\r\n', '\0', '\u00a0', '\ufeff'])(
  'white space %j around or in a refresh token makes it invalid',
  async (space) => {
    const token = tokenIn(victim.cookie);
    for (const changed of [space + token, token + space, token.replace('.', `.${space}`)])
      await expectRefused(changed, () => refreshWith(service, cookieOf(changed)), 'AUTH_FAILED');
  },
);

describe('a token in another place', () => {
  it('is not a Bearer token: in the query, in a body, in a cookie, in another header', async () => {
    const { http } = service;
    const { accessToken } = victim;
    for (const request of [
      http.get(`/users/me?access_token=${accessToken}`),
      http.get('/users/me').type('form').send({ access_token: accessToken }),
      http.get('/users/me').send({ access_token: accessToken }),
      http.get('/users/me').set('Cookie', `access_token=${accessToken}; Authorization=Bearer ${accessToken}`),
      http.get('/users/me').set('X-Access-Token', accessToken),
      http.get('/users/me').set('Proxy-Authorization', `Bearer ${accessToken}`),
    ])
      await expectRefused(accessToken, () => request, 'AUTH_TOKEN_MISSING');
  });

  it('is not a refresh token: in the query, in a body, in a header', async () => {
    const { http } = service;
    const token = tokenIn(victim.cookie);
    const inQuery = () => http.post(`/auth/refresh-token?refresh_token=${token}`);
    await expectRefused(token, inQuery, 'CLIENT_PARAMS_VALIDATION_FAILED', 400);
    for (const request of [
      http.post('/auth/refresh-token').send({ refresh_token: token, refreshToken: token }),
      http.post('/auth/refresh-token').type('form').send({ refresh_token: token }),
      http.post('/auth/refresh-token').set('Authorization', `Bearer ${token}`),
      http.post('/auth/refresh-token').set('Cookie', `Refresh_Token=${token}; refresh_token2=${token}`),
    ])
      await expectRefused(token, () => request, 'AUTH_FAILED');
  });
});

it.each([
  ['a forged token before the valid one', ['forged', 'valid']],
  ['the valid token before a forged one', ['valid', 'forged']],
  ['the valid token twice', ['valid', 'valid']],
  ['another scheme before the valid token', ['basic', 'valid']],
])('the header Authorization is refused when it is sent twice: %s', async (_what, which) => {
  const forged = resigned({ alg: 'none' }, () => () => Buffer.alloc(0))(materialOf('access'));
  const values: Readonly<Record<string, string>> = {
    ...{ valid: `Bearer ${victim.accessToken}`, forged: `Bearer ${forged}`, basic: 'Basic YWRhOnNlY3JldA==' },
  };
  const lines = which.map((name) => `Authorization: ${values[name]}\r\n`).join('');
  const request = head('GET /users/me', { Connection: 'close' }).replace(/\r\n$/, `${lines}\r\n`);
  const answer = await exchangeRaw(service.url, request);
  expect(answer.status).toBe(401);
  expect(JSON.parse(answer.body).code).toMatch(/^AUTH_TOKEN_(INVALID|MISSING)$/);
});

/** The order of the group of P-256 (SEC 2 §2.4.2). */
const ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;

it('the mirrored signature (r, n − s), which anybody can compute makes a token that is equal to the valid one, and does not allow a second use of a refresh token', async () => {
  const holder = await signUp(service);
  const [header, payload, text] = partsOf(tokenIn(holder.cookie));
  const signature = Buffer.from(text, 'base64url');
  const s = (ORDER - BigInt(`0x${signature.toString('hex', 32)}`)).toString(16).padStart(64, '0');
  const mirror = `${header}.${payload}.${Buffer.from(signature.toString('hex', 0, 32) + s, 'hex').toString('base64url')}`;
  const { cookie } = tokensOf(await refreshWith(service, cookieOf(mirror)).expect(200));
  await refreshWith(service, holder.cookie).expect(401);
  await refreshWith(service, cookie).expect(200);
});

describe('after all attacks', () => {
  it('the service has not requested the key set of the attacker', () => {
    expect(keySetRequests).toBe(0);
  });

  it('the victim can refresh', async () => {
    const held = tokensOf(await refreshWith(service, victim.cookie).expect(200));
    await me(`Bearer ${held.accessToken}`).expect(200);
  });
});
