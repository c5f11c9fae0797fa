// Proves network-8
import { describe, expect, it } from 'vitest';
import { closedServices, eventsOf, messagesTo, sentLink, useLink } from '../support/http/account.ts';
import { aPerson } from '../support/http/service.ts';

const CONFIRM = '/auth/email-verification/confirm';
const NOT_ME = '/auth/email-verification/not-me';
const start = closedServices();
const strict = await start({ EMAIL_VERIFICATION: 'required' });

describe('EMAIL_VERIFICATION=required', () => {
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
