// Proves ASVS 16.2.5; theft-5

import { beforeEach, describe, expect, it } from 'vitest';
import { anEvent } from '../support/builders.ts';
import { fixedClock } from '../support/fixed-clock.ts';
import { heldFrom, opened, signUp } from '../support/http/auth-http.ts';
import { hasher, startService } from '../support/http/service.ts';
import { storeEvents } from '../support/stored-events.ts';

const NOW = Date.UTC(2026, 0, 1, 12);
const clock = fixedClock(NOW);
/** Users of a caller's own have no events: there, the service keeps its own in memory. */
const ENV = { TRUST_PROXY: '1' };

const service = await startService(ENV, { clock, hasher });
beforeEach(() => clock.set(NOW));

const LAPTOP = { 'User-Agent': 'Laptop', 'X-Forwarded-For': '192.0.2.200', 'svc-request-id': 'of-the-laptop' };
const PHONE = { 'User-Agent': 'Phone', 'X-Forwarded-For': '2001:db8:1:2::7', 'svc-request-id': 'of-the-phone' };
const ON_LAPTOP = { userAgent: 'Laptop', address: '192.0.2.0/24', requestId: 'of-the-laptop' };
const ON_PHONE = { userAgent: 'Phone', address: '2001:db8:1::/48', requestId: 'of-the-phone' };

type Held = { readonly accessToken: string; readonly cookie: string };
type Person = { readonly email: string; readonly password: string };

const logIn = async ({ email, password }: Person, device: Record<string, string> = PHONE) =>
  heldFrom(await service.http.post('/auth/login').set(device).send({ account: email, password }).expect(200));
const as = (method: 'get' | 'put' | 'delete', path: string, { accessToken }: Held) =>
  service.http[method](path).set('Authorization', `Bearer ${accessToken}`);
const eventsOf = async (held: Held, query = '') =>
  (await as('get', `/users/me/events${query}`, held).expect(200)).body.data;
const sessionOf = ({ accessToken }: Held) => String(opened(accessToken).header.sid);

describe('GET /users/me/events', () => {
  it('has the registration, log-ins and the changed password, the latest first', async () => {
    const person = { username: 'Events', email: 'events@example.org', password: 'correct horse battery' };
    const registered = heldFrom(await service.http.post('/auth/register').set(LAPTOP).send(person).expect(201));
    const phone = await logIn(person);
    const body = { currentPassword: person.password, newPassword: 'battery staple 9' };
    const changed = heldFrom(await as('put', '/users/me/password', phone).set(PHONE).send(body).expect(200));

    const { events, next } = await eventsOf(changed);
    expect(next).toBeNull();
    expect(events).toMatchObject([
      { kind: 'session-opened', reason: null, sessionId: sessionOf(changed), ...ON_PHONE },
      { kind: 'session-ended', reason: 'replaced', sessionId: sessionOf(phone), ...ON_PHONE },
      { kind: 'session-ended', reason: 'password-changed', sessionId: sessionOf(registered), ...ON_PHONE },
      { kind: 'password-changed', reason: null, sessionId: sessionOf(phone), ...ON_PHONE },
      { kind: 'logged-in', reason: null, sessionId: sessionOf(phone), ...ON_PHONE },
      { kind: 'registered', reason: null, sessionId: sessionOf(registered), count: 1, ...ON_LAPTOP },
    ]);
  });

  it('lists 50 events unless another number is asked for', async () => {
    const ada = await signUp(service);
    await storeEvents(
      service.ports,
      Array.from({ length: 50 }, () => anEvent({ id: service.ports.ids.next(), userId: ada.user.id })),
    );
    const { events, next } = await eventsOf(ada);
    expect(events).toHaveLength(50);
    expect(next).toBe(events.at(-1).id);
  });
});

it('the audit log names no account', async () => {
  const ada = await signUp(service);
  const lines = service.logs.filter(({ msg }) => msg === 'account event');
  expect(JSON.stringify(lines)).not.toMatch(new RegExp(`${ada.person.username}|${ada.person.email}`, 'i'));
});
