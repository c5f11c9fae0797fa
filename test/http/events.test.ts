// Proves ASVS 7.4.2, 16.2.5, 16.3.1; theft-5
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  deleteAccountAsOperator,
  disableAccount,
  enableAccount,
} from '../../src/application/accounts/operate-accounts.ts';
import { purges } from '../../src/application/sessions/purge.ts';
import { NO_ORIGIN } from '../../src/domain/event.ts';
import { SESSIONS_PER_USER } from '../../src/domain/session.ts';
import { DAY, MINUTE } from '../support/application.ts';
import { anEvent } from '../support/builders.ts';
import { fixedClock } from '../support/fixed-clock.ts';
import { heldFrom, opened, refreshWith, signUp } from '../support/http/auth-http.ts';
import { hasher, startService, type TestService } from '../support/http/service.ts';

const NOW = Date.UTC(2026, 0, 1, 12);
const clock = fixedClock(NOW);
/** Users of a caller's own have no events: there, the service keeps its own in memory. */
const ENV = { TRUST_PROXY: '1' };

let service: TestService;
beforeAll(async () => {
  service = await startService(ENV, { clock, hasher });
});
afterAll(() => service.close());
beforeEach(() => clock.set(NOW));

const LAPTOP = { 'User-Agent': 'Laptop', 'X-Forwarded-For': '192.0.2.200', 'svc-request-id': 'of-the-laptop' };
const PHONE = { 'User-Agent': 'Phone', 'X-Forwarded-For': '2001:db8:1:2::7', 'svc-request-id': 'of-the-phone' };
const ON_LAPTOP = { userAgent: 'Laptop', address: '192.0.2.0/24', requestId: 'of-the-laptop' };
const ON_PHONE = { userAgent: 'Phone', address: '2001:db8:1::/48', requestId: 'of-the-phone' };
/** What the user sees of an operator who is named in the log. */
const NOTE = 'The laptop was reported stolen.';
const BY_OPERATOR = { userAgent: null, address: null, requestId: null, note: NOTE, actor: 'operator' };
const OPERATOR = { ...NO_ORIGIN, actor: 'Una Operator' };
const BY_ITSELF = { userAgent: null, address: null, requestId: null };

type Held = { readonly accessToken: string; readonly cookie: string };
type Person = { readonly email: string; readonly password: string };

const logIn = async ({ email, password }: Person, device: Record<string, string> = PHONE) =>
  heldFrom(await service.http.post('/auth/login').set(device).send({ account: email, password }).expect(200));
const as = (method: 'get' | 'put' | 'delete', path: string, { accessToken }: Held) =>
  service.http[method](path).set('Authorization', `Bearer ${accessToken}`);
const eventsOf = async (held: Held, query = '') =>
  (await as('get', `/users/me/events${query}`, held).expect(200)).body.data;
const sessionOf = ({ accessToken }: Held) => String(opened(accessToken).header.sid);

/** The endings of a session as its user sees them. */
const endingsOf = async (session: Held, held: Held) =>
  (await eventsOf(held, '?limit=100')).events
    .filter(
      ({ sessionId, kind }: Record<string, string>) => kind === 'session-ended' && sessionId === sessionOf(session),
    )
    .map(({ id: _, ...event }: Record<string, unknown>) => event);

const ending = (session: Held, reason: string, origin: object) => ({
  kind: 'session-ended',
  at: new Date(clock.now()).toISOString(),
  sessionId: sessionOf(session),
  reason,
  count: 1,
  note: null,
  actor: null,
  deviceName: null,
  ...origin,
});

/** Ways in which the session of the phone ends. The user can log in afterwards. */
const ENDINGS: readonly (readonly [
  reason: string,
  origin: object,
  end: (ada: Awaited<ReturnType<typeof signUp>>, phone: Held) => Promise<unknown>,
])[] = [
  [
    'logout',
    ON_PHONE,
    (_, { cookie }) => service.http.get('/auth/clear-cookie').set(PHONE).set('Cookie', cookie).expect(200),
  ],
  [
    'ended-by-user',
    ON_LAPTOP,
    (ada, phone) =>
      as('delete', `/auth/sessions/${sessionOf(phone)}`, ada)
        .set(LAPTOP)
        .expect(200),
  ],
  ['all-ended', ON_LAPTOP, (ada) => as('delete', '/auth/sessions', ada).set(LAPTOP).expect(200)],
  [
    'password-changed',
    ON_LAPTOP,
    async (ada) => {
      const { password } = ada.person;
      const body = { currentPassword: password, newPassword: password };
      await as('put', '/users/me/password', ada).set(LAPTOP).send(body).expect(200);
    },
  ],
  ['replaced', ON_LAPTOP, (ada, { cookie }) => logIn(ada.person, { ...LAPTOP, Cookie: cookie })],
  [
    'token-replayed',
    ON_LAPTOP,
    async (_, { cookie }) => {
      await refreshWith(service, cookie).expect(200);
      clock.advance(MINUTE);
      await refreshWith(service, cookie).set(LAPTOP).expect(401);
    },
  ],
  [
    'evicted',
    ON_LAPTOP,
    async ({ person }) => {
      clock.advance(1);
      for (let count = 1; count < SESSIONS_PER_USER; count += 1) await logIn(person, LAPTOP);
      // The first session is that of the registration.
      await logIn(person, LAPTOP);
    },
  ],
  [
    'expired',
    BY_ITSELF,
    async () => {
      clock.advance(8 * DAY);
      await purges({ ...service.ports, eventsRetention: 0, accessLifetime: 0 }).sessions(100);
    },
  ],
  [
    'operator',
    BY_OPERATOR,
    async ({ user }) => {
      await disableAccount(service.ports)(user.id, OPERATOR, NOTE);
      await enableAccount(service.ports)(user.id, OPERATOR);
    },
  ],
];

describe('GET /users/me/events', () => {
  it.each(ENDINGS)('says why a session ended, when and where: %s', async (reason, origin, end) => {
    const ada = await signUp(service);
    const phone = await logIn(ada.person);
    await end(ada, phone);
    const ended = ending(phone, reason, origin);
    const others = await service.ports.endings.list(0, 1_000);
    const ofPhone = others.filter(({ sessionId }) => sessionId === sessionOf(phone)).map((each) => each.reason);
    expect(ofPhone).toEqual(['expired', 'replaced'].includes(reason) ? [] : [reason]);
    expect(await endingsOf(phone, await logIn(ada.person))).toStrictEqual([ended]);
    // As the background does: what operators did is logged once it is taken.
    await service.ports.transactions.run(({ events }) => events.takeOperated(100));
    const logged = service.logs.filter(
      ({ sessionId, kind }) => kind === 'session-ended' && sessionId === sessionOf(phone),
    );
    // The purge writes one line a round.
    if (reason === 'expired') return expect(logged).toEqual([]);
    expect(logged).toMatchObject([
      {
        level: reason === 'token-replayed' ? 'warn' : 'info',
        msg: 'account event',
        userId: ada.user.id,
        reason,
        ...(reason === 'operator' && { note: NOTE, actor: OPERATOR.actor, at: ended.at }),
      },
    ]);
  });

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
    await service.ports.events.add(
      Array.from({ length: 50 }, () => anEvent({ id: service.ports.ids.next(), userId: ada.user.id })),
    );
    const { events, next } = await eventsOf(ada);
    expect(events).toHaveLength(50);
    expect(next).toBe(events.at(-1).id);
  });

  it.each(['limit=0', 'limit=101', 'limit=-1', 'limit=1.5', 'limit=', 'limit=1&limit=2', 'before=x', 'after=1'])(
    'refuses %s',
    async (query) => {
      const ada = await signUp(service);
      const { body } = await as('get', `/users/me/events?${query}`, ada).expect(400);
      expect(body.code).toBe('CLIENT_PARAMS_VALIDATION_FAILED');
    },
  );
});

describe('a disabled account', () => {
  it('is refused after the right password only, cannot refresh, and can log in once it is enabled', async () => {
    const ada = await signUp(service);
    const { email, password } = ada.person;
    await disableAccount(service.ports)(ada.user.id, NO_ORIGIN);

    const wrong = await service.http.post('/auth/login').send({ account: email, password: 'wrong' }).expect(401);
    expect(wrong.body.code).toBe('AUTH_CREDENTIALS_INVALID');
    const right = await service.http.post('/auth/login').send({ account: email, password }).expect(403);
    expect(right.body.code).toBe('AUTH_ACCOUNT_DISABLED');
    expect((await refreshWith(service, ada.cookie).expect(401)).body.code).toBe('AUTH_FAILED');

    await enableAccount(service.ports)(ada.user.id, NO_ORIGIN);
    await logIn(ada.person);
    expect((await refreshWith(service, ada.cookie).expect(401)).body.code).toBe('AUTH_FAILED');
  });
});

describe('the audit log', () => {
  it('keeps that an account was deleted, of which the tables keep nothing', async () => {
    const ada = await signUp(service);
    await deleteAccountAsOperator(service.ports)(ada.user.id, NO_ORIGIN);
    const lines = service.logs.filter(({ userId, msg }) => msg === 'account event' && userId === ada.user.id);
    expect(lines.slice(1)).toMatchObject([
      { kind: 'session-ended', reason: 'account-deleted', sessionId: sessionOf(ada) },
      { kind: 'deleted' },
    ]);
    await as('get', '/users/me', ada).expect(404);
    await as('get', '/users/me/events', ada).expect(404);
    expect(await service.ports.events.list({ userId: ada.user.id, before: null, limit: 1 })).toStrictEqual([]);
  });

  it('names no account', async () => {
    const ada = await signUp(service);
    const lines = service.logs.filter(({ msg }) => msg === 'account event');
    expect(JSON.stringify(lines)).not.toMatch(new RegExp(`${ada.person.username}|${ada.person.email}`, 'i'));
  });
});
