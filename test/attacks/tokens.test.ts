// Proves ASVS 7.2.1, 9.1.1, 9.1.3, 9.2.2; network-2, network-3, network-5, website-4
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Response } from 'supertest';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { nodeCryptoTokenSigner } from '../../src/adapters/crypto/token-signer.ts';
import {
  compact,
  decoded,
  ecdsa,
  type Forgeries,
  type Material,
  publicKeyOf,
  thumbprint,
} from '../support/forgeries/forge.ts';
import { FORMS, mirrored, SIGNATURES } from '../support/forgeries/forms.ts';
import { HEADERS, SESSIONS, USERS } from '../support/forgeries/headers.ts';
import { CLAIMS, KEYS_AND_ALGORITHMS } from '../support/forgeries/keys-and-claims.ts';
import { heldFrom, refreshWith, servicesOverOneDatabase, signUp, tokenIn } from '../support/http/auth-http.ts';
import { exchangeRaw, head } from '../support/http/raw-http.ts';
import type { TestService } from '../support/http/service.ts';
import { testKeyPair } from '../support/keys.ts';

const { start } = servicesOverOneDatabase();
const attacker = testKeyPair();
/** The attacker's server, with a matching key set. The service must never request it. */
let keySetRequests = 0;
const attackerServer = createServer((_request, response) => {
  keySetRequests += 1;
  const jwk = { ...publicKeyOf(attacker).export({ format: 'jwk' }), kid: thumbprint(attacker), alg: 'ES256' };
  response.setHeader('Content-Type', 'application/json').end(JSON.stringify({ keys: [jwk] }));
});

let service: TestService;
let victim: Awaited<ReturnType<typeof signUp>>;
let access: Material;
let refresh: Material;

const openedToken = (token: string) => {
  const [header, claims] = token.split('.').map((part, index) => (index < 2 ? decoded(part) : {}));
  return { token, header: header ?? {}, claims: claims ?? {} };
};

beforeAll(async () => {
  await once(attackerServer.listen(0, '127.0.0.1'), 'listening');
  service = await start();
  victim = await signUp(service);
  const { keys } = service.config;
  if (keys === null) throw new Error('the service has no keys');
  // A server that listens on a port has no other kind of address.
  const attackerUrl = `http://127.0.0.1:${(attackerServer.address() as AddressInfo).port}`;
  const common = { attacker, attackerUrl };
  const [accessToken, refreshToken] = [victim.accessToken, tokenIn(victim.cookie)];
  access = {
    ...common,
    ...openedToken(accessToken),
    kind: 'access',
    pair: keys.access,
    otherPair: keys.refresh,
    otherToken: refreshToken,
  };
  refresh = {
    ...common,
    ...openedToken(refreshToken),
    kind: 'refresh',
    pair: keys.refresh,
    otherPair: keys.access,
    otherToken: accessToken,
  };
});
afterAll(() => {
  attackerServer.close();
});

const me = (authorization: string) => service.http.get('/users/me').set('Authorization', authorization);
const cookieOf = (token: string) => `refresh_token=${encodeURIComponent(token)}`;
const sessionOfVictim = () => service.ports.sessions.find({ id: String(refresh.header.sid), userId: victim.user.id });

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

const EVERYWHERE: Readonly<Record<string, Forgeries>> = {
  'keys and algorithms': KEYS_AND_ALGORITHMS,
  headers: HEADERS,
  claims: CLAIMS,
  sessions: SESSIONS,
  signatures: SIGNATURES,
  forms: FORMS,
};

describe('the unchanged tokens', () => {
  it('are accepted, so that an attack fails because of its change', async () => {
    const [bearer, current] = [access, refresh].map((m) => compact(m.header, m.claims, ecdsa(m.pair.privateKey)));
    await me(`Bearer ${bearer}`).expect(200);
    expect(await service.ports.tokens.verifyRefresh(current ?? '', Date.now())).toMatchObject({ ok: true });
  });
});

describe('the verifier refuses', () => {
  const signer = () => nodeCryptoTokenSigner(service.config.keys ?? expect.unreachable('the service has no keys'));
  const all = (groups: Readonly<Record<string, Forgeries>>) =>
    Object.entries(groups).flatMap(([group, forgeries]) =>
      Object.entries(forgeries).map(([what, forge]) => [group, what, forge] as const),
    );

  it.each(all({ ...EVERYWHERE, users: USERS }))('as an access token, of %s: %s', async (_group, _what, forge) => {
    expect(await (await signer()).verifyAccess(forge(access), Date.now())).toMatchObject({ ok: false });
  });

  it.each(all(EVERYWHERE))('as a refresh token, of %s: %s', async (_group, _what, forge) => {
    expect(await (await signer()).verifyRefresh(forge(refresh), Date.now())).toMatchObject({ ok: false });
  });
});

/** One of each group: what the verifier refuses, a request with it is refused. */
const ONE_OF_EACH = Object.entries(EVERYWHERE).flatMap(([group, forgeries]) =>
  Object.values(forgeries)
    .slice(0, 1)
    .map((forge) => [group, forge] as const),
);

describe.each(ONE_OF_EACH)('a request with a token that is forged by its %s is refused', (_group, forge) => {
  it('by the guard', async () => {
    const token = forge(access);
    await expectRefused(token, () => me(`Bearer ${token}`), 'AUTH_TOKEN_INVALID');
  });

  it('by refresh', async () => {
    const token = forge(refresh);
    await expectRefused(token, () => refreshWith(service, cookieOf(token)), 'AUTH_FAILED');
  });
});

describe('white space', () => {
  it.each([' ', '\t', '\n', '\r\n', '\0', '\u00a0', '\ufeff'])(
    '%j around or in a refresh token makes it invalid',
    async (space) => {
      const { token } = refresh;
      for (const changed of [space + token, token + space, token.replace('.', `.${space}`)]) {
        await expectRefused(changed, () => refreshWith(service, cookieOf(changed)), 'AUTH_FAILED');
      }
    },
  );

  it.each([' ', '\t'])('%j in an access token makes it invalid', async (space) => {
    const changed = access.token.replace('.', `.${space}`);
    await expectRefused(changed, () => me(`Bearer ${changed}`), 'AUTH_TOKEN_INVALID');
  });
});

describe('a token of 100 KB', () => {
  const TOKEN = `${'a'.repeat(33_000)}.${'b'.repeat(33_000)}.${'c'.repeat(34_000)}`;

  it.each([
    ['the guard', 'GET /users/me', { Authorization: `Bearer ${TOKEN}` }],
    ['refresh', 'POST /auth/refresh-token', { Cookie: `refresh_token=${TOKEN}` }],
  ])('is refused before %s, since it exceeds the maximum size of headers', async (_where, requestLine, headers) => {
    const logged = service.logs.length;
    const answer = await exchangeRaw(service.url, head(requestLine, { ...headers, Connection: 'close' }));
    expect(answer.status).toBe(431);
    expect(JSON.stringify(service.logs.slice(logged))).not.toContain('aaaa');
    expect(answer.body).not.toContain('aaaa');
  });
});

describe('a token in another place', () => {
  it('is not a Bearer token: in the query, in a body, in a cookie, in another header', async () => {
    const { http } = service;
    const { accessToken } = victim;
    for (const request of [
      http.get(`/users/me?access_token=${accessToken}`),
      http.get(`/users/me?token=${accessToken}`),
      http.get('/users/me').type('form').send({ access_token: accessToken }),
      http.get('/users/me').send({ access_token: accessToken }),
      http.get('/users/me').set('Cookie', `access_token=${accessToken}; Authorization=Bearer ${accessToken}`),
      http.get('/users/me').set('X-Access-Token', accessToken),
      http.get('/users/me').set('Proxy-Authorization', `Bearer ${accessToken}`),
    ]) {
      await expectRefused(accessToken, () => request, 'AUTH_TOKEN_MISSING');
    }
  });

  it('is not a refresh token: in the query, in a body, in a header', async () => {
    const { http } = service;
    const { token } = refresh;
    const inQuery = () => http.post(`/auth/refresh-token?refresh_token=${token}`);
    await expectRefused(token, inQuery, 'CLIENT_PARAMS_VALIDATION_FAILED', 400);
    for (const request of [
      http.post('/auth/refresh-token').send({ refresh_token: token, refreshToken: token }),
      http.post('/auth/refresh-token').type('form').send({ refresh_token: token }),
      http.post('/auth/refresh-token').set('Authorization', `Bearer ${token}`),
      http.post('/auth/refresh-token').set('Cookie', `Refresh_Token=${token}; refresh_token2=${token}`),
    ]) {
      await expectRefused(token, () => request, 'AUTH_FAILED');
    }
  });
});

describe('the header Authorization', () => {
  it.each([
    ['a forged token before the valid one', ['forged', 'valid']],
    ['the valid token before a forged one', ['valid', 'forged']],
    ['the valid token twice', ['valid', 'valid']],
    ['another scheme before the valid token', ['basic', 'valid']],
  ])('is refused when it is sent twice: %s', async (_what, which) => {
    const values: Readonly<Record<string, string>> = {
      valid: `Bearer ${victim.accessToken}`,
      forged: `Bearer ${compact({ ...access.header, alg: 'none' }, access.claims, () => Buffer.alloc(0))}`,
      basic: 'Basic YWRhOnNlY3JldA==',
    };
    const lines = which.map((name) => `Authorization: ${values[name]}\r\n`).join('');
    const answer = await exchangeRaw(
      service.url,
      `GET /users/me HTTP/1.1\r\nHost: test\r\nConnection: close\r\n${lines}\r\n`,
    );
    expect(answer.status).toBe(401);
    expect(JSON.parse(answer.body).code).toMatch(/^AUTH_TOKEN_(INVALID|MISSING)$/);
  });
});

describe('forged refresh tokens', () => {
  it('do not log out the user in their claims', async () => {
    for (const forge of Object.values(SIGNATURES)) {
      await service.http
        .get('/auth/clear-cookie')
        .set('Cookie', cookieOf(forge(refresh)))
        .expect(200);
    }
    expect(await sessionOfVictim()).not.toBeNull();
  });

  it('do not prevent a refresh with a valid one in the same request', async () => {
    const other = await signUp(service);
    const forged = Object.values(SIGNATURES).map((forge) => forge(refresh));
    const cookies = forged.slice(0, 5).map(cookieOf).join('; ');
    await refreshWith(service, `${cookies}; ${other.cookie}`).expect(200);
  });
});

describe('the mirrored signature (r, n − s)', () => {
  it('makes a token that is equal to the valid one, and does not allow a second use of a refresh token', async () => {
    const holder = await signUp(service);
    const own = { ...refresh, ...openedToken(tokenIn(holder.cookie)) };
    const mirror = mirrored(own);
    expect(mirror).not.toBe(own.token);
    const { cookie } = heldFrom(await refreshWith(service, cookieOf(mirror)).expect(200));
    await refreshWith(service, holder.cookie).expect(401);
    await refreshWith(service, cookie).expect(200);
  });
});

describe('after all attacks', () => {
  it('the service has not requested the key set of the attacker', () => {
    expect(keySetRequests).toBe(0);
  });

  it('the victim can refresh', async () => {
    const held = heldFrom(await refreshWith(service, victim.cookie).expect(200));
    await me(`Bearer ${held.accessToken}`).expect(200);
    await refreshWith(service, held.cookie).expect(200);
  });
});
