import { decodeJwt } from 'jose';
import { beforeAll, describe, expect, it } from 'vitest';
import type { RegistrationRequest } from '../../src/application/ports/hooks.ts';
import { MINUTE } from '../support/application.ts';
import { authenticator } from '../support/authenticator.ts';
import { codeAt } from '../support/authenticator-app.ts';
import { fixedClock } from '../support/fixed-clock.ts';
import { mailedCode, messagesTo, sentLink } from '../support/http/account.ts';
import { heldFrom, servicesOverOneDatabase, signUp } from '../support/http/auth-http.ts';
import { visitorOf } from '../support/http/page-visitor.ts';
import { aPerson, cookiePair, type TestService } from '../support/http/service.ts';
import { memoryMailer } from '../support/mail/memory-mailer.ts';

const { start } = servicesOverOneDatabase();
const clock = fixedClock(Date.UTC(2026, 0, 1, 12));
const OPTIONAL = { LOGIN_BY_CODE: 'on', PASSWORDS: 'optional', JWT_AUTHENTICATION_CLAIMS: 'true' };
const mailer = memoryMailer();
const startWith = (env = {}) => start({ ...OPTIONAL, ...env }, () => ({ clock, mailer }));
let service: TestService;
beforeAll(async () => {
  service = await startWith();
});

const register = (body: object, { http } = service) => http.post('/auth/register').send(body);
/** A user without a password. */
const newUser = async () => {
  const { email } = aPerson();
  const response = await register({ email }).expect(201);
  return { email, user: response.body.data.user, ...heldFrom(response) };
};
const send = (accessToken: string, method: 'put' | 'post' | 'delete', path: string, body: object, at = service) =>
  at.http[method](path).set('Authorization', `Bearer ${accessToken}`).send(body);

const LOGIN_PENDING = 'login_pending=';
const pendingOf = (response: { get(header: 'Set-Cookie'): string[] | undefined }) =>
  cookiePair(response.get('Set-Cookie')?.find((line) => line.startsWith(LOGIN_PENDING)));

/** Asks for a code, and sends the one of the mail. */
const sendCode = async (email: string, at = service) => {
  const cookie = pendingOf(await at.http.post('/auth/login/code').send({ account: email }).expect(202));
  const code = await mailedCode(at, mailer, email);
  return at.http.post('/auth/login/code/confirm').set('Cookie', cookie).send({ code });
};

describe('POST /auth/register', () => {
  it('with PASSWORDS=optional takes an email alone, and derives the username, which can be changed', async () => {
    const { email, user, accessToken } = await newUser();
    expect(user).toMatchObject({ email, username: email.split('@')[0] });
    expect(decodeJwt(accessToken)).toMatchObject({ amr: [], acr: 'aal1' });
    const { username } = aPerson();
    const { body } = await send(accessToken, 'put', '/users/me/username', { username }).expect(200);
    expect(body.data).toMatchObject({ username });
  });

  it.each(['username', 'password'] as const)('takes the email and the %s', async (member) => {
    const { email, ...person } = aPerson();
    const { body } = await register({ email, [member]: person[member] }).expect(201);
    const username = member === 'username' ? person.username : email.split('@')[0];
    expect(body.data.user).toMatchObject({ email, username });
    const login = { account: email, password: person.password };
    await service.http
      .post('/auth/login')
      .send(login)
      .expect(member === 'password' ? 200 : 401);
  });

  it('refuses a password or a username that is given and not allowed', async () => {
    for (const member of [{ password: 'short' }, { username: 'a@b' }, { password: '' }]) {
      const { body } = await register({ email: aPerson().email, ...member }).expect(400);
      expect(body.details).toMatchObject([{ field: Object.keys(member)[0] }]);
    }
  });

  it('by default needs all three', async () => {
    const { body } = await register({ email: aPerson().email }, await start()).expect(400);
    const details = ['username', 'password'].map((field) => expect.objectContaining({ field, code: 'required' }));
    expect(body).toMatchObject({ code: 'CLIENT_PARAMS_VALIDATION_FAILED', details });
  });

  it('tells the hook that no username was chosen', async () => {
    const asked: RegistrationRequest[] = [];
    const beforeRegister = (registration: RegistrationRequest) => {
      asked.push(registration);
      return { decision: 'allow' as const };
    };
    const { email } = aPerson();
    await register({ email }, await start(OPTIONAL, () => ({ hooks: { beforeRegister } }))).expect(201);
    expect(asked).toMatchObject([{ username: null, email }]);
  });

  it.each([{ EMAIL_VERIFICATION: 'required' }, { SECOND_FACTOR: 'required' }])(
    'opens no session with %j',
    async (env) => {
      const strict = await start({ ...OPTIONAL, ...env });
      const { email } = aPerson();
      const response = await register({ email }, strict).expect(202);
      expect([response.body.data, response.get('Set-Cookie')]).toEqual([null, undefined]);
      expect(await strict.ports.users.findByEmail(email)).not.toBeNull();
    },
  );
});

describe('a user without a password', () => {
  /** What the password confirms otherwise. */
  const CHANGES = [
    ['put', '/users/me/email', 202],
    ['delete', '/users/me', 200],
  ] as const;

  it.each(CHANGES)('who has just logged in needs none for %s %s', async (method, path, status) => {
    const { accessToken } = await newUser();
    const body = method === 'put' ? { email: aPerson().email } : {};
    await send(accessToken, method, path, body).expect(status);
  });

  it.each(CHANGES)('shows a passkey for %s %s later', async (method, path, status) => {
    const { accessToken } = await newUser();
    const key = authenticator({ rpId: 'auth.example.org', origin: 'https://auth.example.org' });
    const options = await send(accessToken, 'post', '/users/me/passkeys/options', {}).expect(200);
    const credential = key.create(options.body.data);
    await send(accessToken, 'post', '/users/me/passkeys', { credential }).expect(201);
    clock.advance(6 * MINUTE);
    const body = method === 'put' ? { email: aPerson().email } : {};
    const refused = await send(accessToken, method, path, body).expect(401);
    expect(refused.body.code).toBe('AUTH_STEP_UP_REQUIRED');
    expect(refused.get('WWW-Authenticate')).toContain('max_age=300');
    const challenge = await service.http.post('/auth/passkey/options').expect(200);
    const shown = { credential: key.get(challenge.body.data) };
    await send(accessToken, 'post', '/auth/step-up', shown).expect(200);
    await send(accessToken, method, path, body).expect(status);
  });

  it.each(CHANGES)('logs in with a code for %s %s later', async (method, path, status) => {
    const { email } = await newUser();
    clock.advance(6 * MINUTE);
    const { accessToken } = heldFrom(await sendCode(email));
    expect(decodeJwt(accessToken)).toMatchObject({ amr: ['mca'] });
    const body = method === 'put' ? { email: aPerson().email } : {};
    clock.advance(6 * MINUTE);
    expect((await send(accessToken, method, path, body).expect(401)).body.code).toBe('AUTH_STEP_UP_REQUIRED');
    clock.advance(MINUTE);
    await send(heldFrom(await sendCode(email)).accessToken, method, path, body).expect(status);
  });

  it('with SECOND_FACTOR=required adds a factor after a code, and shows both for a change', async () => {
    const strict = await startWith({ SECOND_FACTOR: 'required' });
    const { email } = aPerson();
    await register({ email }, strict).expect(202);
    const pending = pendingOf(await sendCode(email, strict));
    const started = await strict.http.post('/auth/login/pending/totp').set('Cookie', pending).expect(201);
    const { secret } = started.body.data;
    const finish = (cookie: string) =>
      strict.http
        .post('/auth/login/second-factor')
        .set('Cookie', cookie)
        .send({ code: codeAt(secret, clock.now()) });
    const { accessToken } = heldFrom(await finish(pending).expect(200));
    expect(decodeJwt(accessToken)).toMatchObject({ amr: ['mca', 'otp', 'mfa'], acr: 'aal2' });
    clock.advance(6 * MINUTE);
    await send(accessToken, 'delete', '/users/me', {}, strict).expect(401);
    const again = heldFrom(await finish(pendingOf(await sendCode(email, strict))).expect(200));
    await send(again.accessToken, 'delete', '/users/me', {}, strict).expect(200);
  });

  it('leaves the field of the password empty on the pages', async () => {
    const [visitor, { email }] = [visitorOf(service), aPerson()];
    await visitor.open('/auth/register');
    await visitor.submit('register.register', { email });
    await visitor.open('/auth/account');
    await visitor.submit('account.email', { email: aPerson().email });
    const { id } = (await service.ports.users.findByEmail(email)) ?? expect.unreachable();
    expect(await messagesTo(service, id)).toContainEqual(expect.objectContaining({ kind: 'email-change' }));
    const { text } = await visitor.open('/auth/account/delete');
    expect(/<input[^>]* name="password"[^>]*>/.exec(text)?.[0]).not.toContain('required');
    expect((await visitor.submit('delete.delete')).headers.location).toContain('/auth/log-in');
    expect(await service.ports.users.findByEmail(email)).toBeNull();
  });

  it('chooses one with a link in a mail', async () => {
    const { email, user } = await newUser();
    await service.http.post('/auth/password-reset').send({ email }).expect(202);
    const token = await sentLink(service, { userId: user.id, purpose: 'password-reset', email });
    const { password } = aPerson();
    await service.http.post('/auth/password-reset/confirm').send({ token, newPassword: password }).expect(200);
    await service.http.post('/auth/login').send({ account: email, password }).expect(200);
  });
});

describe('a user with a password', () => {
  it('cannot leave it out, in a session that was opened with it', async () => {
    const { accessToken, user } = await signUp(service);
    for (const [method, path] of [
      ['put', '/users/me/email'],
      ['delete', '/users/me'],
    ] as const) {
      const { body } = await send(accessToken, method, path, { email: aPerson().email }).expect(400);
      expect(body.details).toMatchObject([{ field: 'password', code: 'required' }]);
    }
    expect(await messagesTo(service, user.id)).toMatchObject([{ kind: 'email-verification' }]);
  });
});
