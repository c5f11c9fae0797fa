// Proves ASVS 6.1.3, 6.3.1, 6.3.4, 6.4.3, 6.4.4, 6.5.1, 6.5.8, 7.5.1; theft-7, theft-8, nist-1, nist-8, nist-10, nist-11, nist-12

import { describe, expect, it } from 'vitest';
import { memoryCounts } from '../../src/adapters/limits/counts.ts';
import { countAttempts } from '../../src/adapters/limits/login-attempts.ts';
import { factorsOf } from '../../src/application/storage/credentials.ts';
import { eventsOf } from '../../src/application/storage/events.ts';
import { messagesOf } from '../../src/application/storage/outbox.ts';
import { MINUTE } from '../support/application.ts';
import { authenticator } from '../support/authenticator.ts';
import { codeAt, wrongCodeAt } from '../support/authenticator-app.ts';
import { fixedClock } from '../support/fixed-clock.ts';
import { cookieAttributes, decode, servicesOverOneDatabase, signUp } from '../support/http/auth-http.ts';
import { addApp, addPasskey, requestsWith } from '../support/http/factors.ts';

const { start } = servicesOverOneDatabase();
const clock = fixedClock(Date.UTC(2026, 0, 1, 12));
const ORIGIN = 'https://app.example.org';
const STEP = 30_000;
const env = {
  WEBAUTHN_RP_ID: 'example.org',
  ALLOWED_ORIGINS_DEV: ORIGIN,
  JWT_AUTHENTICATION_CLAIMS: 'true',
  BRAND_NAME: 'Ex: Auth',
};
const service = await start(env, () => ({ clock, attempts: countAttempts(memoryCounts({ now: clock.now }), clock) }));

const as = (accessToken: string) => requestsWith(accessToken, service);

const kindsOf = async (userId: string) =>
  (await eventsOf(service.ports.records, { userId, before: null, limit: 100 })).map(({ kind }) => kind);
const mailOf = async (userId: string) => (await messagesOf(service.ports.records, userId)).map(({ kind }) => kind);

/** A user with an authenticator app. */
const enrolled = async () => {
  const held = await signUp(service);
  const me = as(held.accessToken);
  return { ...held, me, ...(await addApp(me, clock)) };
};

type Person = { readonly username: string; readonly password: string };

/** The cookie of a pending log-in, as a browser sends it back. */
const pendingOf = async ({ username, password }: Person) => {
  const response = await service.http.post('/auth/login').send({ account: username, password }).expect(401);
  expect(response.body).toMatchObject({ success: false, code: 'AUTH_SECOND_FACTOR_REQUIRED' });
  const cookies = response.get('Set-Cookie') ?? [];
  expect(cookies).toHaveLength(1);
  return { setCookie: cookies[0] ?? '', cookie: (cookies[0] ?? '').split(';')[0] ?? '' };
};

const show = (cookie: string, body: object) =>
  service.http.post('/auth/login/second-factor').set('Cookie', cookie).send(body);
const pending = (cookie: string) => service.http.get('/auth/login/pending').set('Cookie', cookie);

const refused = { code: 'AUTH_SECOND_FACTOR_INVALID', details: null };

describe('an authenticator app', () => {
  it('is a secret that is shown once, with an address and a QR code', async () => {
    const { accessToken, person, user } = await signUp(service);
    const me = as(accessToken);
    const { id, secret, uri, qr } = (await me('post', '/users/me/factors/totp').expect(201)).body.data;
    expect(uri).toContain(`otpauth://totp/`);
    expect(new URL(uri).searchParams.get('secret')).toBe(secret);
    expect(decodeURIComponent(uri)).toContain(`/Ex Auth:${person.username}?`);
    expect(new URL(uri).searchParams.get('issuer')).toBe('Ex Auth');
    expect(qr).toMatch(/^<svg /);
    expect((await me('get', '/users/me/factors').expect(200)).body.data).toEqual({
      passkeys: [],
      totp: [],
      recoveryCodes: 0,
    });
    await service.http.post('/auth/login').send({ account: person.username, password: person.password }).expect(200);
    const [stored] = await factorsOf(service.ports.records, user.id);
    expect(stored).toMatchObject({ id, confirmedAt: null });
    expect(JSON.stringify(stored)).not.toContain(secret);
  });

  it('is confirmed with its first code, which makes ten recovery codes, raises the session and notifies', async () => {
    const { me, user, id, recoveryCodes, accessToken } = await enrolled();
    expect(new Set(recoveryCodes).size).toBe(10);
    expect(recoveryCodes[0]).toMatch(/^(?:[\dA-HJKMNP-TV-Z]{4}-){5}[\dA-HJKMNP-TV-Z]{4}$/);
    const { body } = await me('get', '/users/me/factors').expect(200);
    expect(body.data).toMatchObject({ totp: [{ id }], recoveryCodes: 10 });
    expect(await kindsOf(user.id)).toContain('second-factor-added');
    expect(await mailOf(user.id)).toContain('second-factor-added');
    const { sessionId } = await service.ports.tokens
      .verifyAccess(accessToken, clock.now())
      .then((outcome) => (outcome.ok ? outcome.token : expect.unreachable(outcome.reason)));
    const session = await service.ports.sessions.find({ id: sessionId, userId: user.id });
    expect(session?.amr).toEqual(['pwd', 'otp', 'mfa']);
  });

  it('is not confirmed with a wrong code, with one of another app, or twice', async () => {
    const { accessToken, person } = await signUp(service);
    const me = as(accessToken);
    const first = (await me('post', '/users/me/factors/totp').expect(201)).body.data;
    const second = (await me('post', '/users/me/factors/totp').expect(201)).body.data;
    const confirm = (id: string, code: string) => me('post', '/users/me/factors/totp/confirm', { id, code });
    await confirm(first.id, codeAt(first.secret, clock.now())).expect(404);
    const wrong = await confirm(second.id, wrongCodeAt(second.secret, clock.now())).expect(401);
    expect(wrong.body).toMatchObject(refused);
    await service.http.post('/auth/login').send({ account: person.username, password: person.password }).expect(200);
    await confirm(second.id, codeAt(second.secret, clock.now())).expect(200);
    await confirm(second.id, codeAt(second.secret, clock.now())).expect(404);
  });

  it('is one of five at most', async () => {
    const { me } = await enrolled();
    for (const _ of [2, 3, 4, 5]) {
      const { id, secret } = (await me('post', '/users/me/factors/totp').expect(201)).body.data;
      const { body } = await me('post', '/users/me/factors/totp/confirm', { id, code: codeAt(secret, clock.now()) });
      expect(body.data).toEqual({ recoveryCodes: [] });
    }
    expect((await me('post', '/users/me/factors/totp').expect(401)).body).toMatchObject(refused);
  });

  it('is removed by its user alone, and with the last one the second factor ends', async () => {
    const { me, id, user, person } = await enrolled();
    const stranger = as((await signUp(service)).accessToken);
    await stranger('delete', `/users/me/factors/${id}`).expect(404);
    await me('delete', `/users/me/factors/${id}`).expect(200);
    expect((await me('get', '/users/me/factors').expect(200)).body.data).toMatchObject({ totp: [], recoveryCodes: 0 });
    expect(await kindsOf(user.id)).toContain('second-factor-removed');
    await service.http.post('/auth/login').send({ account: person.username, password: person.password }).expect(200);
  });
});

describe('a log-in of a user with a second factor', () => {
  it('waits for it for five minutes: no session, no token, a cookie', async () => {
    const { person, user, secret } = await enrolled();
    const before = (await service.ports.sessions.listByUser(user.id, clock.now())).length;
    const { setCookie, cookie } = await pendingOf(person);
    expect(cookie).toMatch(/^login_pending=/);
    expect(cookieAttributes(setCookie)).toMatchObject({ HttpOnly: true, Path: '/auth', 'Max-Age': '600' });
    const { body } = await pending(cookie).expect(200);
    expect(body.data).toEqual({
      methods: ['totp', 'recovery-code'],
      enrol: false,
      expiresAt: new Date(clock.now() + 5 * MINUTE).toISOString(),
      passkey: null,
    });
    expect(await service.ports.sessions.listByUser(user.id, clock.now())).toHaveLength(before);
    clock.advance(5 * MINUTE);
    expect((await show(cookie, { code: codeAt(secret, clock.now()) }).expect(401)).body).toMatchObject(refused);
    expect((await pending(cookie).expect(401)).body).toMatchObject(refused);
  });

  it('opens a session with a code, once, and the code is worth nothing afterwards', async () => {
    const { person, secret } = await enrolled();
    const [first, second] = [await pendingOf(person), await pendingOf(person)];
    const code = codeAt(secret, clock.now());
    const response = await show(first.cookie, { code }).expect(200);
    expect(decode(response.body.data.accessToken).claims).toMatchObject({ amr: ['pwd', 'otp', 'mfa'], acr: 'aal2' });
    const names = (response.get('Set-Cookie') ?? []).map((each) => each.split('=')[0]);
    expect(names.toSorted()).toEqual(['login_pending', 'refresh_token']);
    expect((await show(second.cookie, { code }).expect(401)).body).toMatchObject(refused);
    clock.advance(STEP);
    expect((await show(first.cookie, { code: codeAt(secret, clock.now()) }).expect(401)).body).toMatchObject(refused);
    await show(second.cookie, { code: codeAt(secret, clock.now()) }).expect(200);
  });

  it('opens a session with a recovery code, once, until others are made; the user is told of both', async () => {
    const { person, me, user, recoveryCodes } = await enrolled();
    const [code, other] = recoveryCodes;
    await show((await pendingOf(person)).cookie, { recoveryCode: code }).expect(200);
    const { cookie } = await pendingOf(person);
    expect((await show(cookie, { recoveryCode: code }).expect(401)).body).toMatchObject(refused);
    const made = (await me('post', '/users/me/factors/recovery-codes').expect(200)).body.data.recoveryCodes;
    expect(made).toHaveLength(10);
    expect((await show(cookie, { recoveryCode: other }).expect(401)).body).toMatchObject(refused);
    await show(cookie, { recoveryCode: made[0].toLowerCase().replaceAll('-', ' ') }).expect(200);
    const told = expect.arrayContaining(['recovery-code-used', 'recovery-codes-made']);
    expect([await kindsOf(user.id), await mailOf(user.id)]).toEqual([told, told]);
  });

  it('opens a session with a passkey of the user, and of nobody else', async () => {
    const { person, me } = await enrolled();
    const key = authenticator({ rpId: 'example.org', origin: ORIGIN });
    await addPasskey(me, key);
    const stranger = authenticator({ rpId: 'example.org', origin: ORIGIN });
    const other = as((await signUp(service)).accessToken);
    await addPasskey(other, stranger);

    const { cookie } = await pendingOf(person);
    const { methods, passkey } = (await pending(cookie).expect(200)).body.data;
    expect(methods).toContain('passkey');
    const wrong = await show(cookie, { credential: stranger.get(passkey) }).expect(401);
    expect(wrong.body.code).toBe('AUTH_PASSKEY_INVALID');
    const credential = key.get(passkey, { isUserVerified: false });
    const { body } = await show(cookie, { credential }).expect(200);
    expect(decode(body.data.accessToken).claims).toMatchObject({ amr: ['pwd', 'pop', 'user', 'mfa'], acr: 'aal2' });
  });

  it('needs the cookie: a forged or a missing one, and that of a session, open nothing', async () => {
    const { secret, cookie } = await enrolled();
    const token = cookie.slice(cookie.indexOf('=') + 1);
    for (const sent of ['', 'login_pending=x', `login_pending=${token}`, cookie])
      expect((await show(sent, { code: codeAt(secret, clock.now()) }).expect(401)).body).toMatchObject(refused);
  });

  it.each([
    ['no factor', {}],
    ['two factors', { code: '123456', recoveryCode: 'ABCD-EFGH-JKMN-PQRS' }],
    ['a credential that is none', { credential: { id: 'x' } }],
  ])('refuses %s with 400', async (_what, body) => {
    const { body: answer } = await show('login_pending=x', body).expect(400);
    expect(answer.code).toBe('CLIENT_PARAMS_VALIDATION_FAILED');
  });

  it('is the latest of several that a browser sends: another host of the domain may have added the first', async () => {
    const [ada, mallory] = [await enrolled(), await enrolled()];
    const { cookie: planted } = await pendingOf(mallory.person);
    clock.advance(1);
    const { cookie } = await pendingOf(ada.person);
    const { body } = await show(`${planted}; ${cookie}`, { code: codeAt(ada.secret, clock.now()) }).expect(200);
    expect(body.data.user.username).toBe(ada.person.username);
  });

  it('admits few wrong codes, and lets nobody keep its user from a recovery code', async () => {
    const { person, secret, recoveryCodes } = await enrolled();
    const { cookie } = await pendingOf(person);
    const guess = () => show(cookie, { code: wrongCodeAt(secret, clock.now()) });
    const answers = [];
    for (let guesses = 0; guesses < 60; guesses += 1) answers.push((await guess()).body.code);
    expect(answers.filter((code) => code === refused.code)).toHaveLength(50);
    expect(new Set(answers.slice(50))).toEqual(new Set(['CLIENT_REQUEST_RATE_LIMIT_EXCEEDED']));
    await show(cookie, { recoveryCode: recoveryCodes[1] }).expect(200);
  });
});

describe('a step-up of a user with a second factor', () => {
  it('takes the password with a code, which counts once, and a passkey', async () => {
    const { accessToken, person, secret, me } = await enrolled();
    const key = authenticator({ rpId: 'example.org', origin: ORIGIN });
    await addPasskey(me, key);
    clock.advance(6 * MINUTE);
    await me('get', '/users/me/factors').expect(401);
    const code = codeAt(secret, clock.now());
    await me('post', '/auth/step-up', { password: person.password }).expect(200);
    const raised = await as(accessToken)('post', '/auth/step-up', { code }).expect(200);
    await as(raised.body.data.accessToken)('get', '/users/me/factors').expect(200);
    expect((await me('post', '/auth/step-up', { code }).expect(401)).body).toMatchObject(refused);
    clock.advance(6 * MINUTE);
    await me('get', '/users/me/factors').expect(401);
    const use = (await service.http.post('/auth/passkey/options').expect(200)).body.data;
    const credential = key.get(use);
    await me('post', '/auth/step-up', { credential }).expect(200);
    await me('get', '/users/me/factors').expect(200);
    expect((await me('post', '/auth/step-up', { credential }).expect(401)).body.code).toBe('AUTH_PASSKEY_INVALID');
  });

  it('counts wrong codes for the session', async () => {
    const { me, secret } = await enrolled();
    const answers = [];
    for (let guesses = 0; guesses < 55; guesses += 1)
      answers.push((await me('post', '/auth/step-up', { code: wrongCodeAt(secret, clock.now()) })).body.code);
    expect(answers.filter((code) => code === refused.code).length).toBeLessThanOrEqual(50);
    expect(answers.at(-1)).toBe('CLIENT_REQUEST_RATE_LIMIT_EXCEEDED');
  });
});

it('recovery codes are not made without a second factor', async () => {
  const { accessToken } = await signUp(service);
  await as(accessToken)('post', '/users/me/factors/recovery-codes').expect(404);
});
