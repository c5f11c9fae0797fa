// Proves ASVS 6.4.1; network-8, member-4
import { beforeAll, describe, expect, it } from 'vitest';
import { aPasskey } from '../support/builders.ts';
import { closedServices, eventsOf, messagesTo, sentLink, useLink } from '../support/http/account.ts';
import { refreshWith, signUp } from '../support/http/auth-http.ts';
import { aPerson, type TestService } from '../support/http/service.ts';

const CONFIRM = '/auth/email-verification/confirm';
const NOT_ME = '/auth/email-verification/not-me';
const start = closedServices();
let service: TestService;
beforeAll(async () => {
  service = await start();
});

/** A user who has registered, and got both links. */
const registered = async () => {
  const ada = await signUp(service);
  const { id: userId, email } = ada.user;
  const verify = await sentLink(service, { userId, purpose: 'email-verification', email });
  const notMe = await sentLink(service, { userId, purpose: 'not-me', email });
  return { ...ada, verify, notMe };
};

const storedUser = (id: string) => service.ports.users.findById(id);

describe('POST /auth/register', () => {
  it('has a link sent to the address', async () => {
    const { user } = await signUp(service);
    expect(await messagesTo(service, user.id)).toEqual([{ kind: 'email-verification', to: user.email, email: null }]);
    expect(await storedUser(user.id)).toMatchObject({ emailVerifiedAt: null });
  });

  it('has none sent with EMAIL_VERIFICATION=off', async () => {
    const off = await start({ EMAIL_VERIFICATION: 'off' });
    const { user } = await signUp(off);
    expect(await messagesTo(off, user.id)).toEqual([]);
  });
});

describe('POST /auth/email-verification', () => {
  const ask = (email: unknown, { http } = service) => http.post('/auth/email-verification').send({ email });

  it('responds the same for every address, and keeps one request of each', async () => {
    const { user } = await registered();
    const before = (await service.ports.outbox.waiting()).count;
    const known = await ask(user.email).expect(202);
    const unknown = await ask('nobody.at.all@example.org').expect(202);
    expect(known.body.data).toBeNull();
    expect(unknown.body.data).toBeNull();
    await ask(` ${user.email.toUpperCase()} `).expect(202);
    expect((await service.ports.outbox.waiting()).count).toBe(before + 2);
  });
});

describe('POST /auth/email-verification/confirm', () => {
  it.each([
    ['keeps the session and the passkeys of a user who uses it there', true],
    ['removes all of them anywhere else', false],
    ['removes them if another site sends the cookie', 'cross-site'],
  ])('%s', async (_what, isHere) => {
    const { user, cookie, verify } = await registered();
    await service.ports.passkeys.add(aPasskey({ userId: user.id }));
    const request = useLink(service, CONFIRM, verify).set('Accept-Language', 'de');
    if (isHere !== false) request.set('Cookie', cookie);
    if (isHere === 'cross-site') request.set('Sec-Fetch-Site', 'cross-site');
    await request.expect(200);
    expect(await service.ports.passkeys.listByUser(user.id)).toHaveLength(isHere === true ? 1 : 0);
    expect((await storedUser(user.id))?.locale).toBe(isHere === true ? null : 'de');
    await refreshWith(service, cookie).expect(isHere === true ? 200 : 401);
  });
});

describe('POST /auth/email-verification/not-me', () => {
  it('removes the account, with a link that works once', async () => {
    const { user, notMe } = await registered();
    await useLink(service, NOT_ME, notMe).expect(200);
    expect(await storedUser(user.id)).toBeNull();
    expect((await useLink(service, NOT_ME, notMe).expect(400)).body.code).toBe('AUTH_LINK_INVALID');
  });
});

describe('EMAIL_VERIFICATION=required', () => {
  let strict: TestService;
  beforeAll(async () => {
    strict = await start({ EMAIL_VERIFICATION: 'required' });
  });
  const register = (person: object, { http } = strict) => http.post('/auth/register').send(person);
  const logIn = (account: string, password: string) => strict.http.post('/auth/login').send({ account, password });
  const byEmail = async (email: string) => {
    const user = await strict.ports.users.findByEmail(email);
    if (user === null) throw new Error(`nobody has ${email}`);
    return user;
  };
  const verify = async (email: string) => {
    const { id: userId } = await byEmail(email);
    const token = await sentLink(strict, { userId, purpose: 'email-verification', email });
    await useLink(strict, CONFIRM, token).expect(200);
    return userId;
  };

  it('registers without a session, and has a link sent', async () => {
    const person = aPerson();
    const response = await register(person).expect(202);
    expect(response.body.data).toBeNull();
    expect(response.get('Set-Cookie')).toBeUndefined();
    const user = await byEmail(person.email);
    expect(await strict.ports.sessions.listByUser(user.id, Date.now())).toEqual([]);
    expect(await messagesTo(strict, user.id)).toEqual([{ kind: 'email-verification', to: person.email, email: null }]);
    expect((await eventsOf(strict, user.id)).map(({ kind, sessionId }) => [kind, sessionId])).toEqual([
      ['registered', null],
    ]);
  });

  it('refuses the log-in until the address is verified, after the right password only', async () => {
    const person = aPerson();
    await register(person).expect(202);
    for (const account of [person.username, person.email]) {
      expect((await logIn(account, 'not the password').expect(401)).body.code).toBe('AUTH_CREDENTIALS_INVALID');
      const response = await logIn(account, person.password).expect(403);
      expect(response.body.code).toBe('AUTH_EMAIL_UNVERIFIED');
      expect(response.get('Set-Cookie')).toBeUndefined();
    }
    await verify(person.email);
    await logIn(person.email, person.password).expect(200);
  });

  it('responds the same for a taken address, and notifies its owner', async () => {
    const owner = aPerson();
    const free = await register(owner).expect(202);
    const userId = await verify(owner.email);
    const other = { ...aPerson(), email: owner.email.toUpperCase() };
    const taken = await register(other).expect(202);
    expect({ ...taken.body, timestamp: '', context: {} }).toEqual({ ...free.body, timestamp: '', context: {} });
    expect(Object.keys(taken.headers).toSorted()).toEqual(Object.keys(free.headers).toSorted());
    expect(await strict.ports.users.findByUsername(other.username)).toBeNull();
    expect((await messagesTo(strict, userId)).at(-1)).toMatchObject({ kind: 'address-taken', to: owner.email });
    await logIn(owner.email, owner.password).expect(200);
  });
});

describe('a service without mail', () => {
  it('does not start when addresses have to be verified', async () => {
    await expect(start({ EMAIL_VERIFICATION: 'required' }, { mailer: null })).rejects.toThrow(/^EMAIL_VERIFICATION: /);
  });

  it('has no routes that need mail', async () => {
    const own = await start({}, { mailer: null });
    for (const path of ['/auth/email-verification', CONFIRM, NOT_ME, '/auth/email-change/confirm']) {
      await own.http.post(path).send({ email: 'ada@example.org', token: 'x' }).expect(404);
    }
  });
});
