import { once } from 'node:events';
import { createServer, request as forward } from 'node:http';
import type { AddressInfo } from 'node:net';
import request from 'supertest';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { closedServices, eventsOf } from '../support/http/account.ts';
import { cookieAttributes, refreshWith, signUp } from '../support/http/auth-http.ts';
import { refreshCookieOf, type TestService } from '../support/http/service.ts';
import { tally } from '../support/tally.ts';

/**
 * A reverse proxy in front of a service, which ends with the test.
 * @param rechunks whether it sends bodies on in chunks, without their length, as some proxies do.
 * @returns its URL.
 */
const reverseProxy = async (target: string, { rechunks }: { readonly rechunks: boolean }): Promise<string> => {
  const server = createServer((incoming, outgoing) => {
    const { 'content-length': length, ...headers } = incoming.headers;
    const passed = rechunks && length !== undefined ? { ...headers, 'transfer-encoding': 'chunked' } : incoming.headers;
    const forwarded = forward(new URL(incoming.url ?? '/', target), { method: incoming.method, headers: passed });
    forwarded.once('error', () => outgoing.destroy());
    forwarded.once('response', (response) => {
      outgoing.writeHead(response.statusCode ?? 502, response.headers);
      response.pipe(outgoing);
    });
    incoming.pipe(forwarded);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};

const start = closedServices();

type SignedUp = Awaited<ReturnType<typeof signUp>>;

describe('DELETE /users/me', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await start();
  });

  const leave = (
    { accessToken, person }: SignedUp,
    body: object = { password: person.password },
    http = service.http,
  ) => http.delete('/users/me').set('Authorization', `Bearer ${accessToken}`).send(body);
  const logIn = ({ person }: SignedUp) =>
    service.http.post('/auth/login').send({ account: person.username, password: person.password });
  const sessionsOf = ({ user }: SignedUp) => service.ports.sessions.listByUser(user.id, Date.now());

  it('clears the cookie, and the log keeps that the account was deleted', async () => {
    const ada = await signUp(service);
    const set = refreshCookieOf(await leave(ada).expect(200));
    expect(set).toMatch(/^refresh_token=;/);
    expect(cookieAttributes(set)).toMatchObject({ 'Max-Age': '0', Path: '/auth', HttpOnly: true });
    expect((await refreshWith(service, ada.cookie).expect(401)).body.code).toBe('AUTH_FAILED');
    const lines = service.logs.filter(({ msg, userId }) => msg === 'account event' && userId === ada.user.id);
    expect(lines.map(({ kind, reason }) => [kind, reason])).toEqual([
      ['registered', undefined],
      ['session-ended', 'account-deleted'],
      ['deleted', undefined],
    ]);
  });

  it('refuses a wrong password, and makes guesses wait', async () => {
    const ada = await signUp(service);
    const guesses = await Promise.all(Array.from({ length: 51 }, () => leave(ada, { password: 'a guess' })));
    expect(tally(guesses)).toEqual({
      '401 AUTH_CREDENTIALS_INVALID': 50,
      '429 CLIENT_REQUEST_RATE_LIMIT_EXCEEDED': 1,
    });
    expect(refreshCookieOf(guesses[0] ?? { headers: {} })).toBeUndefined();
    expect(await service.ports.users.findById(ada.user.id)).not.toBeNull();
  });

  it('refuses a request whose body did not arrive', async () => {
    const ada = await signUp(service);
    const { body } = await service.http
      .delete('/users/me')
      .set('Authorization', `Bearer ${ada.accessToken}`)
      .expect(400);
    expect(body.details).toEqual([{ field: 'body', message: expect.any(String), code: 'malformed' }]);
    expect((await leave(ada, {}).expect(400)).body.details).toMatchObject([{ field: 'password', code: 'required' }]);
  });

  it.each([{ rechunks: false }, { rechunks: true }])('works through a reverse proxy: %o', async (options) => {
    const proxied = request(await reverseProxy(service.url, options));
    const ada = await signUp(service);
    await leave(ada, { password: 'a guess' }, proxied).expect(401);
    const response = await leave(ada, undefined, proxied).expect(200);
    expect(refreshCookieOf(response)).toMatch(/^refresh_token=;/);
    expect(await service.ports.users.findById(ada.user.id)).toBeNull();
  });

  it('and log-ins, refreshes and a registration of the same name at once: nothing of the user is left', async () => {
    for (let round = 0; round < 12; round += 1) {
      const ada = await signUp(service);
      const register = () => service.http.post('/auth/register').send(ada.person);
      const [left, refreshed, registered, ...loggedIn] = await Promise.all([
        leave(ada),
        refreshWith(service, ada.cookie),
        register(),
        ...Array.from({ length: 4 }, () => logIn(ada)),
      ]);
      expect(left.status).toBe(200);
      expect(tally([refreshed])).toEqual(refreshed.status === 200 ? { '200': 1 } : { '401 AUTH_FAILED': 1 });
      expect([201, 409]).toContain(registered.status);
      for (const response of loggedIn) expect([200, 401]).toContain(response.status);
      expect(await sessionsOf(ada)).toEqual([]);
      expect(await eventsOf(service, ada.user.id)).toEqual([]);
      if (registered.status === 409) await register().then(({ status }) => expect(status).toBe(201));
    }
  });
});
