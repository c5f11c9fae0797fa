import { beforeAll, describe, expect, it } from 'vitest';
import { closedServices, sentLink, useLink } from '../support/http/account.ts';
import { signUp } from '../support/http/auth-http.ts';
import { aPerson, type TestService } from '../support/http/service.ts';
import { memoryMailer } from '../support/mail/memory-mailer.ts';

const start = closedServices();
let service: TestService;
beforeAll(async () => {
  service = await start();
});

describe("a stranger's account that is to have the address of a victim", () => {
  it('gets it from nobody who neither knows its password nor has a session of it', async () => {
    const [stranger, other] = [await signUp(service), await signUp(service)];
    const { email } = aPerson();
    const token = await sentLink(service, { userId: stranger.user.id, purpose: 'email-change', email });
    const confirm = () => useLink(service, '/auth/email-change/confirm', token);
    const shown = await useLink(service, '/auth/email-change/preview', token).expect(200);
    expect(shown.body.data).toMatchObject({ username: stranger.user.username, createdAt: stranger.user.createdAt });
    expect((await confirm().expect(400)).body.details).toMatchObject([{ field: 'password', code: 'required' }]);
    await confirm().set('Authorization', `Bearer ${other.accessToken}`).expect(400);
    await confirm().send({ token, password: 'a guess' }).expect(401);
    expect(await service.ports.users.findById(stranger.user.id)).toMatchObject({ email: stranger.user.email });
  });
});

describe('the mailbox of a stranger', () => {
  it('gets five mails of five accounts that ask for it five times each, over two instances and in several spellings', async () => {
    const mailer = memoryMailer();
    const first = await start({}, { mailer });
    const { outbox } = first.ports;
    const second = await start({}, { mailer, storage: first.ports });
    const accounts = await Promise.all([first, second, first, second, first].map((service) => signUp(service)));
    for (const [at, { accessToken, person }] of accounts.entries()) {
      for (const email of [
        'v.i.ctim@gmail.com',
        'victim@gmail.com',
        'victim+1@gmail.com',
        'VICTIM@googlemail.com',
        'victim+2@gmail.com',
      ]) {
        const ask = [first, second][at % 2]?.http.put('/users/me/email').set('Authorization', `Bearer ${accessToken}`);
        await ask?.send({ email, password: person.password }).expect(202);
      }
    }
    for (const { mail } of [first, second, first, second]) await Promise.all((await mail?.send(100)) ?? []);
    expect(mailer.mails.filter(({ to }) => /^v.*@g/.test(to))).toHaveLength(5);
    expect((await outbox.waiting()).count).toBe(0);
  });
});

describe.each(['optional', 'required'])('strangers with spellings of a mailbox, EMAIL_VERIFICATION=%s', (mode) => {
  it('keep neither the verification nor a reset from the owner', async () => {
    const mailer = memoryMailer();
    const { http, mail } = await start({ EMAIL_VERIFICATION: mode }, { mailer });
    const owner = aPerson();
    const register = (person: typeof owner) => http.post('/auth/register').send(person);
    const ask = (email: string) => http.post('/auth/password-reset').send({ email }).expect(202);
    const send = async () => Promise.all((await mail?.send(100)) ?? []);
    for (let at = 0; at < 8; at += 1) {
      const email = owner.email.replace('@', `+${at}@`);
      await register({ ...aPerson(), email });
      await ask(email);
      await send();
    }
    await register(owner);
    await send();
    await ask(owner.email);
    await send();
    const subjects = mailer.mails.filter(({ to }) => to === owner.email).map(({ subject }) => subject);
    expect(subjects).toEqual([expect.stringContaining('email address'), expect.stringContaining('password')]);
  });
});
