// Proves guess-3
import { expect, it } from 'vitest';
import { fixedClock } from '../support/fixed-clock.ts';
import { mailedCode } from '../support/http/account.ts';
import { cookieAttributes, opened, servicesOverOneDatabase, signUp } from '../support/http/auth-http.ts';
import { cookiePair } from '../support/http/service.ts';
import { memoryMailer } from '../support/mail/memory-mailer.ts';

const { start } = servicesOverOneDatabase();
const clock = fixedClock(Date.UTC(2026, 0, 1, 12));
const mailer = memoryMailer();
const service = await start({ NEW_DEVICE_CODE: 'on', JWT_AUTHENTICATION_CLAIMS: 'true' }, () => ({ clock, mailer }));

/** A user whose address is proven. */
const aUser = async () => {
  const { person, user } = await signUp(service);
  await service.ports.users.update(user.id, { emailVerifiedAt: clock.now(), now: clock.now() });
  return person;
};
const setCookie = (response: { get(header: 'Set-Cookie'): string[] | undefined }, name: string) =>
  response.get('Set-Cookie')?.find((line) => line.startsWith(`${name}=`));
const logIn = (account: string, password: string, cookie = '') =>
  service.http.post('/auth/login').set('Cookie', cookie).send({ account, password });

it('a code by mail finishes the log-in, and the next one needs none', async () => {
  const { username, email, password } = await aUser();
  const waiting = await logIn(username, password).expect(401);
  expect(waiting.body.code).toBe('AUTH_SECOND_FACTOR_REQUIRED');
  expect(cookieAttributes(setCookie(waiting, 'login_pending'))).toMatchObject({ 'Max-Age': '600' });
  const cookie = cookiePair(setCookie(waiting, 'login_pending'));
  const { data } = (await service.http.get('/auth/login/pending').set('Cookie', cookie).expect(200)).body;
  expect(data).toMatchObject({ methods: ['mail-code'], enrol: false, passkey: null });
  const mailCode = await mailedCode(service, mailer, email);
  const finish = (body: object) => service.http.post('/auth/login/second-factor').set('Cookie', cookie).send(body);
  await finish({ code: '123456' }).expect(401);
  const finished = await finish({ mailCode }).expect(200);
  expect(opened(finished.body.data.accessToken).claims).toMatchObject({ amr: ['pwd', 'mca'], acr: 'aal1' });
  expect(JSON.stringify(service.logs)).not.toContain(mailCode);
  await logIn(username, password, cookiePair(setCookie(finished, 'remembered_device'))).expect(200);
});
