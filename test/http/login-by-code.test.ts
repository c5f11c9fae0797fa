import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { signUp } from '../support/http/auth-http.ts';
import { aPerson, cookiePair, type Own, startService, type TestService } from '../support/http/service.ts';
import { memoryMailer } from '../support/mail/memory-mailer.ts';

const start = async (env: Readonly<Record<string, string>> = {}, own: Own = {}) => {
  const mailer = memoryMailer();
  const service = await startService({ LOGIN_BY_CODE: 'on', EMAIL_VERIFICATION: 'off', ...env }, { mailer, ...own });
  return { ...service, mails: mailer.mails };
};
type Mailing = Awaited<ReturnType<typeof start>>;

const deliver = async ({ mail }: TestService): Promise<void> => {
  for (;;) {
    const attempts = (await mail?.send(10)) ?? [];
    if (attempts.length === 0) return;
    await Promise.all(attempts);
  }
};

const pendingOf = (response: { get(header: 'Set-Cookie'): string[] | undefined }): string =>
  cookiePair(response.get('Set-Cookie')?.find((line) => line.startsWith('login_pending=')));

const ask = async ({ http }: TestService, account: string, cookie = ''): Promise<string> =>
  pendingOf(await http.post('/auth/login/code').set('Cookie', cookie).send({ account }).expect(202));

const confirm = ({ http }: TestService, cookie: string, code: string) =>
  http.post('/auth/login/code/confirm').set('Cookie', cookie).send({ code });

const codesTo = ({ mails }: Mailing, email: string): string[] =>
  mails.filter(({ to }) => to === email).flatMap(({ text }) => /^\d{8}$/m.exec(text)?.[0] ?? []);

describe('a code by mail', () => {
  let service: Mailing;
  beforeAll(async () => {
    service = await start();
  });
  afterAll(() => service.close());

  it('logs its user in', async () => {
    const { person } = await signUp(service);
    const cookie = await ask(service, person.username);
    await deliver(service);
    const [code = ''] = codesTo(service, person.email);
    const { body } = await confirm(service, cookie, code).expect(200);
    expect(body.data.user).toMatchObject({ username: person.username });
    expect((await confirm(service, cookie, code).expect(401)).body.code).toBe('AUTH_CODE_INVALID');
  });

  it('is answered the same for an account that does not exist', async () => {
    const { email } = aPerson();
    const cookie = await ask(service, email);
    await deliver(service);
    expect(codesTo(service, email)).toEqual([]);
    expect((await confirm(service, cookie, '12345678').expect(401)).body.code).toBe('AUTH_CODE_INVALID');
  });
});
