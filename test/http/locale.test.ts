import { decodeJwt } from 'jose';
import { describe, expect, it } from 'vitest';
import { deliver, eventsOf, serviceStarter } from '../support/http/account.ts';
import { aPerson } from '../support/http/service.ts';
import { memoryMailer } from '../support/mail/memory-mailer.ts';

const start = serviceStarter();
const mailer = memoryMailer();
const service = await start({}, { mailer });

const registered = async (accepted: string, more: object = {}) => {
  const person = aPerson();
  const { body } = await service.http
    .post('/auth/register')
    .set('Accept-Language', accepted)
    .send({ ...person, ...more })
    .expect(201);
  return { person, ...(body.data as { user: { id: string; email: string }; accessToken: string }) };
};
const localeOf = async ({ accessToken }: { accessToken: string }): Promise<unknown> =>
  (await service.http.get('/users/me').set('Authorization', `Bearer ${accessToken}`).expect(200)).body.data.locale;
const change = ({ accessToken }: { accessToken: string }, body: object) =>
  service.http.patch('/users/me').set('Authorization', `Bearer ${accessToken}`).send(body);
const subjectTo = async ({ user }: { user: { email: string } }): Promise<string | undefined> => {
  await deliver(service);
  return mailer.mails.findLast(({ to }) => to === user.email)?.subject;
};

describe('the language of a user', () => {
  it.each([
    ['fi-FI, en;q=0.1, de;q=0.2', 'de'],
    ['de;q=0, *', null],
    ['en', 'de-AT', { locale: 'DE-at' }],
    ['_, ../../etc, \u00e4', null],
    [`${'a,'.repeat(1_000)}de`, null],
  ])(
    'is that of Accept-Language or the member of the registration: %j becomes %j',
    async (accepted, locale, more?: object) => {
      expect(await localeOf(await registered(`${accepted}`, more))).toBe(locale);
    },
  );

  it('is changed by the user, and not the one of others', async () => {
    const [ada, bob] = [await registered('en'), await registered('en')];
    const { body } = await change(ada, { locale: 'de-ch' }).expect(200);
    expect(body.data).toMatchObject({ ...ada.user, locale: 'de-CH', updatedAt: expect.any(String) });
    expect([await localeOf(ada), await localeOf(bob)]).toEqual(['de-CH', 'en']);
    await change(ada, { locale: 'de-CH' }).expect(200);
    expect((await eventsOf(service, ada.user.id)).map(({ kind }) => kind)).toEqual(['locale-changed', 'registered']);
    await service.http.post('/auth/password-reset').send({ email: ada.user.email }).expect(202);
    expect(await subjectTo(ada)).toMatch(/^Setzen Sie Ihr Passwort/);
  });

  it('is in no answer to a log-in, and in no token', async () => {
    const ada = await registered('de');
    expect(ada.user).not.toHaveProperty('locale');
    const login = { account: ada.person.username, password: ada.person.password };
    const { body } = await service.http.post('/auth/login').send(login).expect(200);
    expect(Object.keys(body.data.user)).toEqual(['id', 'username', 'email', 'createdAt', 'updatedAt']);
    expect(JSON.stringify(decodeJwt(body.data.accessToken))).not.toContain('locale');
  });
});
