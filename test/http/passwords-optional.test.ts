import { decodeJwt } from 'jose';
import { describe, expect, it } from 'vitest';
import { MINUTE } from '../support/application.ts';
import { authenticator } from '../support/authenticator.ts';
import { anIdentity } from '../support/builders.ts';
import { fixedClock } from '../support/fixed-clock.ts';
import { linksOf, mailedCode, messagesTo } from '../support/http/account.ts';
import { servicesOverOneDatabase, signUp, tokensOf } from '../support/http/auth-http.ts';
import { addPasskey, requestsWith } from '../support/http/factors.ts';
import { registeredVisitor, type Visitor, visitorOf } from '../support/http/page-visitor.ts';
import { aPerson, cookiePair } from '../support/http/service.ts';
import { memoryMailer } from '../support/mail/memory-mailer.ts';

const { start } = servicesOverOneDatabase();
const clock = fixedClock(Date.UTC(2026, 0, 1, 12));
const OPTIONAL = { LOGIN_BY_CODE: 'on', PASSWORDS: 'optional', JWT_AUTHENTICATION_CLAIMS: 'true' };
const mailer = memoryMailer();
const startWith = (env = {}) => start({ ...OPTIONAL, ...env }, () => ({ clock, mailer }));
const service = await startWith();

const register = (body: object, { http } = service) => http.post('/auth/register').send(body);
/** A user without a password. */
const newUser = async () => {
  const { email } = aPerson();
  const response = await register({ email }).expect(201);
  return { email, user: response.body.data.user, ...tokensOf(response) };
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

/** Adds a passkey. @returns the answer, which may have recovery codes */
const makePasskey = async ({ accessToken }: { accessToken: string }) => {
  const key = authenticator({ rpId: 'auth.example.org', origin: 'https://auth.example.org' });
  return addPasskey(requestsWith(accessToken, service), key);
};
const logIn = (account: string, password: string) => service.http.post('/auth/login').send({ account, password });

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

  it('by default needs all three', async () => {
    const { body } = await register({ email: aPerson().email }, await start()).expect(400);
    const details = ['username', 'password'].map((field) => expect.objectContaining({ field, code: 'required' }));
    expect(body).toMatchObject({ code: 'CLIENT_PARAMS_VALIDATION_FAILED', details });
  });
});

/** Asks in a session for a code that confirms a change. */
const confirmationCode = async ({ email, accessToken }: { email: string; accessToken: string }, at = service) => {
  await send(accessToken, 'post', '/users/me/code', {}, at).expect(202);
  return mailedCode(at, mailer, email);
};
/** What the password confirms otherwise, or a code. */
const CHANGES = [
  ['put', '/users/me/email', 202],
  ['delete', '/users/me', 200],
] as const;
const NEITHER = {
  code: 'CLIENT_PARAMS_VALIDATION_FAILED',
  details: ['password', 'code'].map((field) => expect.objectContaining({ field, code: 'required' })),
};
/** The fields of a page that confirm a change. */
const confirmingFields = async ({ open }: Pick<Visitor, 'open'>, path: string) =>
  [...(await open(path)).text.matchAll(/<input[^>]* name="(password|code)"([^>]*)>/g)].map(
    ([, name = '', attributes]) => name + (/ required\b/.exec(attributes ?? '') ?? ''),
  );
const wrong = (code: string) => code.replace(/.$/, (digit) => `${(Number(digit) + 1) % 10}`);

describe('a user without a password', () => {
  it.each(CHANGES)('who has just logged in needs a mailed code for %s %s, once', async (method, path, status) => {
    const ada = await newUser();
    const change = (code?: string) => send(ada.accessToken, method, path, { email: aPerson().email, code });
    expect((await change().expect(400)).body).toMatchObject(NEITHER);
    const code = await confirmationCode(ada);
    expect(await linksOf(service, ada.user.id)).toContain(`confirmation-code ${ada.email}`);
    expect((await change(wrong(code)).expect(401)).body.code).toBe('AUTH_CODE_INVALID');
    const another = await newUser();
    const sent = send(another.accessToken, method, path, { email: aPerson().email, code });
    expect((await sent.expect(401)).body.code).toBe('AUTH_CODE_INVALID');
    await change(` ${code.slice(0, 4)} ${code.slice(4)}`).expect(status);
    expect((await change(code)).body.code).toBe(method === 'put' ? 'AUTH_CODE_INVALID' : 'DB_RECORD_NOT_FOUND');
  });

  it.each(CHANGES)('needs another one for %s %s than to log in', async (method, path, status) => {
    const { email } = await newUser();
    clock.advance(6 * MINUTE);
    const { accessToken } = tokensOf(await sendCode(email));
    expect(decodeJwt(accessToken)).toMatchObject({ amr: ['mca'] });
    const body = { email: aPerson().email };
    const ofLogin = { ...body, code: await mailedCode(service, mailer, email) };
    expect((await send(accessToken, method, path, ofLogin).expect(401)).body.code).toBe('AUTH_CODE_INVALID');
    const code = await confirmationCode({ email, accessToken });
    await send(accessToken, method, path, { ...body, code }).expect(status);
  });

  it('gets recovery codes with the first passkey, unless the address is proven, and logs in with each of them once', async () => {
    const ada = await newUser();
    const { recoveryCodes } = await makePasskey(ada);
    expect(recoveryCodes).toHaveLength(10);
    expect(await makePasskey(ada)).not.toHaveProperty('recoveryCodes');
    const proven = await newUser();
    await service.ports.users.update(proven.user.id, { emailVerifiedAt: 1, now: clock.now() });
    expect(await makePasskey(proven)).not.toHaveProperty('recoveryCodes');

    const [code, other] = recoveryCodes;
    const { accessToken } = tokensOf(await logIn(ada.email, ` ${code.toLowerCase()} `).expect(200));
    expect(decodeJwt(accessToken)).toMatchObject({ amr: ['otp'], acr: 'aal1' });
    expect((await logIn(ada.email, code).expect(401)).body.code).toBe('AUTH_CREDENTIALS_INVALID');
    await logIn(proven.email, other).expect(401);
    await logIn((await signUp(service)).user.email, other).expect(401);
    const again = await send(accessToken, 'post', '/users/me/factors/recovery-codes', {}).expect(200);
    await logIn(ada.email, other).expect(401);
    await logIn(ada.email, again.body.data.recoveryCodes[0]).expect(200);
    // A password takes their place.
    await service.ports.users.setPasswordHash(ada.user.id, {
      passwordHash: 'x',
      isOfNewPassword: true,
      now: clock.now(),
    });
    await logIn(ada.email, again.body.data.recoveryCodes[1]).expect(401);
  });

  it.each<[string, (user: { accessToken: string; user: { id: string }; email: string }) => Promise<unknown>]>([
    [
      'the address is proven in a session',
      ({ user }) => service.ports.users.update(user.id, { emailVerifiedAt: clock.now(), now: clock.now() }),
    ],
    ['a provider is linked', ({ user }) => service.ports.records.insert('identities', anIdentity({ userId: user.id }))],
    ['somebody else proves the address', async ({ email }) => (await sendCode(email)).body],
  ])('does not log in with a recovery code after %s', async (_, change) => {
    const ada = await newUser();
    const { recoveryCodes } = await makePasskey(ada);
    await change(ada);
    await logIn(ada.email, recoveryCodes[0]).expect(401);
  });

  it('gets recovery codes with another passkey when none is left', async () => {
    const ada = await newUser();
    const { recoveryCodes } = await makePasskey(ada);
    let last = ada.accessToken;
    for (const code of recoveryCodes) last = tokensOf(await logIn(ada.email, code).expect(200)).accessToken;
    expect((await makePasskey({ accessToken: last })).recoveryCodes).toHaveLength(10);
  });

  it.each([
    ['/auth/account', 'account.email'],
    ['/auth/account/delete', 'delete.delete'],
  ])('confirms a change at %s by the code alone', async (path, form) => {
    const [visitor, { email }] = [visitorOf(service), aPerson()];
    await visitor.open('/auth/register');
    await visitor.submit('register.register', { email });
    expect(await confirmingFields(visitor, path)).toEqual(['code required']);
    expect(await confirmingFields(await registeredVisitor(service), path)).toEqual(['password', 'code']);
    await visitor.submit(form.replace(/\..*/, '.confirmation-code'));
    await visitor.follow();
    await visitor.submit(form, { email: aPerson().email, code: await mailedCode(service, mailer, email) });
    const user = await service.ports.users.findByEmail(email);
    const asked = user && (await messagesTo(service, user.id)).filter(({ kind }) => kind === 'email-change');
    expect(asked).toEqual(form === 'delete.delete' ? null : [expect.anything()]);
  });
});

describe('a user with a password', () => {
  it('cannot leave it out without a code, in a session that was opened with it', async () => {
    const { accessToken, user } = await signUp(service);
    for (const [method, path] of CHANGES) {
      const { body } = await send(accessToken, method, path, { email: aPerson().email }).expect(400);
      expect(body).toMatchObject(NEITHER);
    }
    expect(await messagesTo(service, user.id)).toMatchObject([{ kind: 'email-verification' }]);
  });

  it('by default has no other way to confirm a change, neither through the API nor on the pages', async () => {
    const strict = await start({ LOGIN_BY_CODE: 'on' }, () => ({ clock, mailer }));
    const { accessToken } = await signUp(strict);
    await send(accessToken, 'post', '/users/me/code', {}, strict).expect(404);
    for (const [method, path] of CHANGES) {
      const body = { email: aPerson().email, code: '48151623' };
      const { details } = (await send(accessToken, method, path, body, strict).expect(400)).body;
      expect(details).toContainEqual(expect.objectContaining({ field: 'password', code: 'required' }));
    }
    const member = await registeredVisitor(strict);
    for (const path of ['/auth/account', '/auth/account/delete'])
      expect((await member.open(path)).text).not.toMatch(/name="code"|confirmation-code/);
  });
});
