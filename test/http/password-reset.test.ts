// Proves ASVS 6.2.2, 6.4.3, 7.4.3, 16.2.5; network-8, theft-5, theft-7, theft-8, mail-3
import { afterAll, describe, expect, it } from 'vitest';
import { passwordHasher } from '../../src/adapters/crypto/password-hasher.ts';
import { deliver } from '../support/http/account.ts';
import { refreshWith, signUp } from '../support/http/auth-http.ts';
import { aPerson, type Own, startService, type TestService } from '../support/http/service.ts';
import { memoryMailer } from '../support/mail/memory-mailer.ts';
import { tokenIn } from '../support/mail/sender.ts';

const NEW_PASSWORD = 'a new correct horse';

const start = async (env: Readonly<Record<string, string>> = {}, own: Own = {}) => {
  const mailer = memoryMailer();
  const service = await startService(
    { EMAIL_VERIFICATION: 'off', ...env },
    { hasher: passwordHasher({ cost: 4 }), mailer, ...own },
  );
  return { ...service, mails: mailer.mails };
};
type Mailing = Awaited<ReturnType<typeof start>>;

const ask = ({ http }: TestService, email: string) => http.post('/auth/password-reset').send({ email });
const confirm = ({ http }: TestService, token: string, newPassword = NEW_PASSWORD) =>
  http.post('/auth/password-reset/confirm').send({ token, newPassword });
const logIn = ({ http }: TestService, account: string, password: string) =>
  http.post('/auth/login').send({ account, password });

/** The token that somebody gets who asks for it. */
const askFor = async (service: Mailing, email: string): Promise<string> => {
  await ask(service, email).expect(202);
  await deliver(service);
  const mail = service.mails.findLast(({ to, subject }) => to === email && subject.startsWith('Reset'));
  return tokenIn(mail ?? { text: 'no mail' }, 'password-reset');
};

const service = await start();

describe('a forgotten password', () => {
  afterAll(() => service.close());

  it('is replaced with the link of a mail, and all sessions end', async () => {
    const { person, cookie } = await signUp(service);
    const response = await confirm(service, await askFor(service, person.email)).expect(200);
    expect([response.body.data, response.get('Set-Cookie')]).toEqual([null, undefined]);
    await refreshWith(service, cookie).expect(401);
    await logIn(service, person.email, person.password).expect(401);
    await logIn(service, person.username, NEW_PASSWORD).expect(200);
  });

  it('says whose password the link sets, to those who have the link', async () => {
    const { person } = await signUp(service);
    const token = await askFor(service, person.email);
    const preview = (sent: string) => service.http.post('/auth/password-reset/preview').send({ token: sent });
    for (let times = 0; times < 2; times += 1)
      expect((await preview(token).expect(200)).body.data).toEqual({ username: person.username });
    for (const sent of [token.slice(1), 'x', '\0']) {
      const { body, text } = await preview(sent).expect(400);
      expect(body.code).toBe('AUTH_LINK_INVALID');
      expect(text).not.toContain(person.username);
    }
    await confirm(service, token).expect(200);
    expect((await preview(token).expect(400)).body.code).toBe('AUTH_LINK_INVALID');
  });

  it('answers the same to every address', async () => {
    const { person } = await signUp(service);
    const answers = [];
    for (const email of [person.email, aPerson().email]) {
      const { status, body, headers } = await ask(service, email);
      const { requestId: _requestId, ...context } = body.context;
      const names = Object.keys(headers).sort();
      answers.push({ status, body: { ...body, timestamp: null, context }, names });
    }
    expect(answers[0]).toMatchObject({ status: 202, body: { success: true, data: null } });
    expect(answers[1]).toEqual(answers[0]);
  });

  it('writes neither the token nor the address to the log', async () => {
    const { person } = await signUp(service);
    const token = await askFor(service, person.email);
    await confirm(service, token).expect(200);
    const log = JSON.stringify(service.logs);
    for (const secret of [token, person.email, NEW_PASSWORD]) expect(log).not.toContain(secret);
  });
});

it('without mail there are no links, except that of an operator, and no address has to be verified', async () => {
  const service = await startService({}, { mailer: null });
  await ask(service, 'ada@example.org').expect(404);
  for (const path of [
    'email-verification',
    'email-verification/confirm',
    'email-verification/not-me',
    'email-change/confirm',
  ])
    await service.http.post(`/auth/${path}`).send({ email: 'ada@example.org', token: 'x' }).expect(404);
  await confirm(service, 'x').expect(400);
  expect(service.mail).toBeNull();
  await expect(startService({ EMAIL_VERIFICATION: 'required' }, { mailer: null })).rejects.toThrow(
    /^EMAIL_VERIFICATION: /,
  );
});
