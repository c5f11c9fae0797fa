import { describe, expect, it } from 'vitest';
import { closedServices, eventsOf, messagesTo } from '../support/http/account.ts';
import { aPerson } from '../support/http/service.ts';

const CONFIRM = '/auth/email-verification/confirm';
const NOT_ME = '/auth/email-verification/not-me';
const start = closedServices();
const strict = await start({ EMAIL_VERIFICATION: 'required' });

describe('EMAIL_VERIFICATION=required', () => {
  const register = (person: object, { http } = strict) => http.post('/auth/register').send(person);
  const byEmail = async (email: string) => {
    const user = await strict.ports.users.findByEmail(email);
    if (user === null) throw new Error(`nobody has ${email}`);
    return user;
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
