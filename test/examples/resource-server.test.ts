// Proves ASVS 10.3.3
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { SignJWT } from 'jose';
import request from 'supertest';
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { followEndedSessions } from '../../client/src/server.ts';
import { createApp } from '../../examples/resource-server/app.ts';
import type { IsEnded } from '../../examples/resource-server/authenticate.ts';
import { encoded } from '../support/forgeries/forge.ts';
import { decode, servicesOverOneDatabase, signUp, tokenIn } from '../support/http/auth-http.ts';
import type { TestService } from '../support/http/service.ts';
import { testKeys } from '../support/keys.ts';
import { listenOnLoopback } from '../support/listen.ts';
import { keyVariables } from '../support/processes/environments.ts';
import { runService } from '../support/processes/process.ts';
import { freePort } from '../support/servers/free-port.ts';

const PARTIES = { JWT_ISSUER: 'https://auth.example.com', JWT_AUDIENCE: 'https://api.example.com' };
const TRUST = { issuer: PARTIES.JWT_ISSUER, audience: PARTIES.JWT_AUDIENCE };
const MAIN = fileURLToPath(new URL('../../examples/resource-server/main.ts', import.meta.url));
const KEYS = testKeys();
const INVALID = 'Bearer error="invalid_token"';

const keySetOf = ({ url }: { readonly url: string }): URL => new URL('/.well-known/jwks.json', url);

/** The example with the key set at this address. @returns a client that sends a token, and the errors that it has printed */
const startApi = async (keySet: URL, origins: readonly string[] = [], isEnded?: IsEnded) => {
  const printed: unknown[] = [];
  const app = createApp({ ...TRUST, keySet }, origins, isEnded);
  app.on('error', (error) => printed.push(error));
  const http = request((await listenOnLoopback(createServer(app.callback()))).url);
  const get = (token?: string, path = '/') =>
    token === undefined ? http.get(path) : http.get(path).set('Authorization', `Bearer ${token}`);
  return { http, get, printed };
};

const { start } = servicesOverOneDatabase();
let service: TestService;
let ada: Awaited<ReturnType<typeof signUp>>;
beforeAll(async () => {
  service = await start({ ...keyVariables(KEYS), ...PARTIES });
  ada = await signUp(service);
});

describe('the resource server', () => {
  it('answers whom an access token is about', async () => {
    const { get, printed } = await startApi(keySetOf(service));
    const { body } = await get(ada.accessToken).expect(200);
    expect(body).toEqual({ sub: ada.user.id, user: ada.user });
    expect(printed).toEqual([]);
  });

  it('answers 401 without a token, with a bare challenge (RFC 6750 §3.1)', async () => {
    const { get, http } = await startApi(keySetOf(service));
    expect((await get().expect(401)).headers['www-authenticate']).toBe('Bearer');
    const basic = await http.get('/').set('Authorization', 'Basic YTpi').expect(401);
    expect(basic.headers['www-authenticate']).toBe('Bearer');
  });

  /** Signed with the valid key: only a type that is not the expected one is wrong. */
  const signedWith = (header: object, claims: object): Promise<string> => {
    const valid = decode(ada.accessToken);
    return new SignJWT({ ...valid.claims, ...claims })
      .setProtectedHeader({ ...valid.header, alg: 'ES256', ...header })
      .sign(KEYS.access.privateKey);
  };

  it.each([
    [
      'alg none',
      async () => `${encoded({ ...decode(ada.accessToken).header, alg: 'none' })}.${ada.accessToken.split('.')[1]}.`,
    ],
    ['another typ', () => signedWith({ typ: 'at+jwt' }, {})],
    ['another tokenType', () => signedWith({}, { tokenType: 'refresh' })],
  ])('answers 401 invalid_token to %s', async (_what, token) => {
    const { get, printed } = await startApi(keySetOf(service));
    expect((await get(await token()).expect(401)).headers['www-authenticate']).toBe(INVALID);
    expect(printed).toEqual([]);
  });

  it('admits to a part of it those whom the operator of the service has given the role, from their next token on', async () => {
    const { get } = await startApi(keySetOf(service));
    const { user, accessToken, cookie } = await signUp(service);
    const { body } = await get(accessToken, '/admin').expect(403);
    expect(body).toEqual({ error: 'the role admin is missing' });
    const attributes = { roles: ['admin'] };
    await service.ports.users.update(user.id, { attributes, now: Date.parse(user.updatedAt) });
    await get(accessToken, '/admin').expect(403);
    const refreshed = await service.http.post('/auth/refresh-token').set('Cookie', cookie).expect(200);
    await get(refreshed.body.data.accessToken, '/admin').expect(200);
    await get(refreshed.body.data.accessToken).expect(200);
  });

  it.each([
    ['another role', { roles: ['editor'] }],
    ['the role as a text', { roles: 'admin' }],
    ['no roles', { team: 'admin' }],
    ['no object', 'admin'],
    ['nothing', null],
  ])('does not take for the role: %s', async (_what, attributes) => {
    const { get } = await startApi(keySetOf(service));
    for (const path of ['/admin', '/admin/users', '/admin/'])
      await get(await signedWith({}, { attributes }), path).expect(403);
  });

  it('fetches the keys once, and again for a kid that it does not know', async () => {
    let fetches = 0;
    let current = service;
    const relay = createServer(async (_request, response) => {
      fetches += 1;
      response.end(await (await fetch(keySetOf(current))).text());
    });
    const { get } = await startApi(keySetOf(await listenOnLoopback(relay)));
    await get(ada.accessToken).expect(200);
    await get(ada.accessToken).expect(200);
    expect(fetches).toBe(1);

    current = await start({ ...keyVariables(testKeys()), ...PARTIES });
    const bob = await signUp(current);
    // Anybody can make up a kid: it is looked up at most every 30 seconds.
    await get(bob.accessToken).expect(401);
    expect(fetches).toBe(1);
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 31_000 });
    await get(bob.accessToken).expect(200);
    expect(fetches).toBe(2);
    await get(ada.accessToken).expect(401);
  });

  it('answers 503 while the keys cannot be fetched, and recovers when they can', async () => {
    const port = await freePort();
    const { get, printed } = await startApi(keySetOf({ url: `http://127.0.0.1:${port}` }));
    const { headers } = await get(ada.accessToken).expect(503);
    expect(headers['retry-after']).toMatch(/^[1-9]\d*$/);
    expect(headers).not.toHaveProperty('www-authenticate');
    expect(printed).toMatchObject([{ status: 503, cause: expect.anything() }]);

    await start({ ...keyVariables(KEYS), ...PARTIES, PORT: String(port) });
    await get(ada.accessToken).expect(200);
  });
});

describe('the resource server, called from a browser', () => {
  const [APP, OTHER] = ['https://app.example.com', 'https://app.example.com.evil.example'];
  const preflight = async (origin: string) => {
    const { http } = await startApi(keySetOf(service), [APP]);
    return http
      .options('/')
      .set({
        Origin: origin,
        'Access-Control-Request-Method': 'GET',
        'Access-Control-Request-Headers': 'authorization',
      });
  };

  it('answers the preflight of a listed origin, which has no token', async () => {
    const { status, headers } = await preflight(APP);
    expect(status).toBe(204);
    expect(headers).toMatchObject({
      'access-control-allow-origin': APP,
      'access-control-allow-headers': expect.stringMatching(/Authorization/i),
      vary: 'Origin',
    });
    expect(headers).not.toHaveProperty('access-control-allow-credentials');
  });

  it.each([OTHER, 'null', ''])('says nothing of CORS to the origin "%s"', async (origin) => {
    const { status, headers } = await preflight(origin);
    expect(status).toBe(401);
    expect(headers).not.toHaveProperty('access-control-allow-origin');
  });
});

describe('the resource server, with the list of ended sessions', () => {
  const follow = async (baseUrl: string, whenStale: 'stale-ok' | 'refuse') => {
    const errors: Error[] = [];
    const onError = (error: Error) => errors.push(error);
    const { isEnded, close } = followEndedSessions({ baseUrl, issuer: TRUST.issuer, whenStale, onError });
    onTestFinished(close);
    return { errors, ...(await startApi(keySetOf(service), [], isEnded)) };
  };

  it('refuses a user who has logged out, and no other', async () => {
    const bob = await signUp(service);
    const { errors, get } = await follow(service.url, 'refuse');
    await vi.waitFor(() => get(bob.accessToken).expect(200), 20_000);
    await service.http.get('/auth/clear-cookie').set('Cookie', bob.cookie).expect(200);
    await vi.waitFor(() => get(bob.accessToken).expect(401).expect('WWW-Authenticate', INVALID), 20_000);
    await get(ada.accessToken).expect(200);
    expect(errors).toEqual([]);
  });
});

describe('its program', () => {
  it('trusts the service that the variables name, and the origins', async () => {
    const origins = { ALLOWED_ORIGINS: 'https://app.example.com,https://admin.example.com' };
    const { url, stop } = await runService({ ...PARTIES, ...origins, KEY_SET: keySetOf(service).href }, [], MAIN);
    const { headers } = await request(url)
      .get('/')
      .set({ Authorization: `Bearer ${ada.accessToken}`, Origin: 'https://admin.example.com' })
      .expect(200);
    expect(headers['access-control-allow-origin']).toBe('https://admin.example.com');
    await request(url)
      .get('/')
      .set('Authorization', `Bearer ${tokenIn(ada.cookie)}`)
      .expect(401);
    expect(await stop('SIGTERM')).toEqual({ code: 0, signal: null });
  });

  it('does not start without an audience', async () => {
    await expect(runService({ JWT_ISSUER: PARTIES.JWT_ISSUER }, [], MAIN)).rejects.toThrow(
      'set JWT_ISSUER and JWT_AUDIENCE',
    );
  });
});
