// Proves ASVS 7.4.2, 16.3.1
import { describe, expect, it } from 'vitest';
import { serviceStarter } from '../support/http/account.ts';
import { cookieAttributes, refreshWith, signUp } from '../support/http/auth-http.ts';
import { refreshCookieOf } from '../support/http/service.ts';

const start = serviceStarter();

type SignedUp = Awaited<ReturnType<typeof signUp>>;

const service = await start();

describe('DELETE /users/me', () => {
  const leave = ({ accessToken, person }: SignedUp, body: object = { password: person.password }) =>
    service.http.delete('/users/me').set('Authorization', `Bearer ${accessToken}`).send(body);

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
});
