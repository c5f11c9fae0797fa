// Proves ASVS 6.3.1, 7.4.2, 7.5.1; script-2
import { beforeAll, describe, expect, it } from 'vitest';
import { closedServices, eventsOf } from '../support/http/account.ts';
import { cookieAttributes, refreshWith, signUp } from '../support/http/auth-http.ts';
import { refreshCookieOf, type TestService } from '../support/http/service.ts';
import { tally } from '../support/tally.ts';

const start = closedServices();

type SignedUp = Awaited<ReturnType<typeof signUp>>;

describe('DELETE /users/me', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await start();
  });

  const leave = ({ accessToken, person }: SignedUp, body: object = { password: person.password }) =>
    service.http.delete('/users/me').set('Authorization', `Bearer ${accessToken}`).send(body);
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

  it('takes a body in chunks, as some proxies send it on', async () => {
    const ada = await signUp(service);
    const answer = await fetch(`${service.url}/users/me`, {
      method: 'DELETE',
      headers: { Authorization: `Bearer ${ada.accessToken}`, 'Content-Type': 'application/json' },
      body: new Blob([JSON.stringify({ password: ada.person.password })]).stream(),
      duplex: 'half',
    });
    expect(answer.status).toBe(200);
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
