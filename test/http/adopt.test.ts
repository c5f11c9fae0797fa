// Proves website-11

import { generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto';
import { SignJWT } from 'jose';
import { describe, expect, it } from 'vitest';
import { purgeRows } from '../../src/application/storage/rows.ts';
import { MINUTE } from '../support/application.ts';
import { codeAt } from '../support/authenticator-app.ts';
import { fixedClock } from '../support/fixed-clock.ts';
import { eventsOf } from '../support/http/account.ts';
import { ADOPTION_KEY, ALL_ROUTES } from '../support/http/all-routes.ts';
import { cookieAttributes, decode, refreshWith, servicesOverOneDatabase, signUp } from '../support/http/auth-http.ts';
import { addApp, requestsWith } from '../support/http/factors.ts';
import { cookiePair, refreshCookieOf } from '../support/http/service.ts';
import { memoryMailer } from '../support/mail/memory-mailer.ts';

const BASE_URL = 'https://auth.example.org';
const SECOND = generateKeyPairSync('ed25519');
const OTHER = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const PUBLIC_KEYS = `${ALL_ROUTES.ADOPTION_PUBLIC_KEY}${SECOND.publicKey.export({ type: 'spki', format: 'pem' })}`;
const UNKNOWN_USER = '01J0000000000000000000000A';

const { start } = servicesOverOneDatabase();
const clock = fixedClock(Date.now());
const mailer = memoryMailer();
const env = { ADOPTION_PUBLIC_KEY: PUBLIC_KEYS, JWT_AUTHENTICATION_CLAIMS: 'true' };
const service = await start(env, () => ({ clock, mailer }));

type Assertion = { readonly key?: KeyObject; readonly header?: object; readonly claims?: object };

const assertionFor = (sub: string, { key = ADOPTION_KEY.privateKey, header, claims }: Assertion = {}) => {
  const iat = Math.floor(clock.now() / 1000);
  return new SignJWT({ aud: BASE_URL, sub, jti: randomUUID(), iat, exp: iat + 60, ...claims })
    .setProtectedHeader({ typ: 'adoption+jwt', alg: key.asymmetricKeyType === 'ec' ? 'ES256' : 'EdDSA', ...header })
    .sign(key);
};

const post = (assertion: string, at = service) => at.http.post('/auth/adopt').send({ assertion });

describe('an assertion of the former system', () => {
  it.each([
    ['ES256', ADOPTION_KEY],
    ['EdDSA, by the second of its keys', SECOND],
  ])('opens a session by %s, which is renewed like others, and for which no mail is sent', async (_alg, pair) => {
    const { user, person } = await signUp(service);
    const login = post(await assertionFor(user.id, { key: pair.privateKey }));
    const response = await login.set('User-Agent', 'Another/1.0').expect(200);
    expect(response.body.data.user).toEqual(user);
    expect(decode(response.body.data.accessToken).claims).toMatchObject({
      amr: ['adopted'],
      acr: 'aal1',
      auth_time: 0,
    });
    const cookie = refreshCookieOf(response);
    expect(cookieAttributes(cookie)).toMatchObject({ HttpOnly: true, Path: '/auth', SameSite: 'Lax' });
    const renewed = await refreshWith(service, cookiePair(cookie)).expect(200);
    expect(decode(renewed.body.data.accessToken).claims).toMatchObject({ amr: ['adopted'], auth_time: 0 });
    expect((await eventsOf(service, user.id)).map(({ kind }) => kind)).toContain('logged-in');
    const { account, password } = { account: person.email, password: person.password };
    await service.http.post('/auth/login').set('User-Agent', 'A third/1.0').send({ account, password }).expect(200);
    await Promise.all((await service.mail?.send(10)) ?? []);
    // One of the two devices is told of.
    expect(mailer.mails.filter(({ to, text }) => to === person.email && text.includes('1.0'))).toHaveLength(1);
  });

  it('is accepted for a base URL with a slash, among other audiences, and with a clock that is slightly apart', async () => {
    const { user } = await signUp(service);
    const iat = Math.floor(clock.now() / 1000);
    for (const claims of [{ aud: ['https://a.b', `${BASE_URL}/`] }, { iat: iat + 4 }, { iat: iat - 60, exp: iat - 1 }])
      await post(await assertionFor(user.id, { claims })).expect(200);
  });

  it('is refused when it is not right, with one answer, which an unknown user gets as well', async () => {
    const { user } = await signUp(service);
    const iat = Math.floor(clock.now() / 1000);
    const good = await assertionFor(user.id);
    const unsigned = `${Buffer.from('{"alg":"none","typ":"adoption+jwt"}').toString('base64url')}.${good.split('.')[1]}.`;
    const wrong: Assertion[] = [
      { key: OTHER.privateKey },
      { header: { typ: 'JWT' } },
      { header: { typ: undefined } },
      { claims: { aud: 'https://other.example.org' } },
      { claims: { aud: undefined } },
      { claims: { sub: undefined } },
      { claims: { sub: UNKNOWN_USER } },
      { claims: { sub: 'ada@example.org' } },
      { claims: { jti: undefined } },
      { claims: { jti: '' } },
      { claims: { jti: 'a\u0000b' } },
      { claims: { exp: undefined } },
      { claims: { exp: iat + 61 } },
      { claims: { exp: iat - 5 } },
      { claims: { iat: undefined } },
      { claims: { iat: iat + 6 } },
      { claims: { iat: iat - 66, exp: iat - 6 } },
    ];
    const texts = await Promise.all(wrong.map((each) => assertionFor(user.id, each)));
    const answers = [];
    const critical = Buffer.from('{"alg":"ES256","typ":"adoption+jwt","crit":["unheard-of"]}').toString('base64url');
    const extended = [critical, ...good.split('.').slice(1)].join('.');
    for (const text of [...texts, unsigned, extended, `${good}A`, good.slice(0, -4), 'a.b.c', 'x', '\u0000'])
      answers.push((await post(text).expect(401)).body);
    const about = ({ code, message, details }: Record<string, unknown>) => ({ code, message, details });
    expect(new Set(answers.map((body) => JSON.stringify(about(body)))).size).toBe(1);
    expect(answers[0]).toMatchObject({ code: 'AUTH_ASSERTION_INVALID', details: null });
    const log = JSON.stringify(service.logs);
    expect(log).toContain('exp is more than a minute after iat');
    for (const part of [good.split('.')[2], 'unheard-of']) expect(log).not.toContain(part);
    await post(good).expect(200);
  });

  it('is remembered as long as it is accepted, also if its times are no whole seconds', async () => {
    const { user } = await signUp(service);
    const iat = Math.floor(clock.now() / 1000);
    const assertion = await assertionFor(user.id, { claims: { exp: iat + 30.5 } });
    await post(assertion).expect(200);
    clock.advance((iat + 35.7) * 1000 - clock.now());
    await purgeRows(service.ports.records, 'usedValues', { time: 'expiresAt', until: clock.now(), limit: 100 });
    await post(assertion).expect(401);
  });

  it('cannot be posted by a page of another site, whose visitor would be logged in as somebody else', async () => {
    const { user } = await signUp(service);
    const assertion = await assertionFor(user.id);
    const origin = 'https://evil.example';
    const form = service.http.post('/auth/adopt').type('form').send({ assertion });
    await form.set('Origin', origin).expect(403);
    await service.http.post('/auth/adopt').type('form').send({ assertion }).expect(415);
    await service.http.post('/auth/adopt').type('text').send(JSON.stringify({ assertion })).expect(415);
    await post(assertion).set('Origin', origin).expect(403);
    await post(assertion).expect(200);
  });
});

describe('an adopted session', () => {
  it('waits for the second factor of a user who has one, and then still lacks the first for a step-up', async () => {
    const { user, accessToken } = await signUp(service);
    const { secret } = await addApp(requestsWith(accessToken, service), clock);
    const assertion = await assertionFor(user.id);
    const response = await post(assertion).expect(401);
    expect(response.body.code).toBe('AUTH_SECOND_FACTOR_REQUIRED');
    const cookies = response.get('Set-Cookie') ?? [];
    expect(cookies.map((line) => line.split('=')[0])).toEqual(['login_pending']);
    await post(assertion).expect(401, /AUTH_ASSERTION_INVALID/);
    const finish = service.http.post('/auth/login/second-factor').set('Cookie', cookiePair(cookies[0] ?? ''));
    const { body } = await finish.send({ code: codeAt(secret, clock.now()) }).expect(200);
    const expected = { amr: ['adopted', 'otp', 'mfa'], acr: 'aal2', auth_time: 0 };
    expect(decode(body.data.accessToken).claims).toMatchObject(expected);
    const change = await requestsWith(body.data.accessToken, service)('post', '/users/me/factors/totp').expect(401);
    expect(change.get('WWW-Authenticate')).toContain('max_age');
  });

  it('is not opened for a disabled user, or one who has chosen another password', async () => {
    const disabled = await signUp(service);
    await service.ports.users.update(disabled.user.id, { disabledAt: clock.now(), now: clock.now() });
    expect((await post(await assertionFor(disabled.user.id)).expect(403)).body.code).toBe('AUTH_ACCOUNT_DISABLED');
    const { user, person, accessToken } = await signUp(service);
    const change = service.http.put('/users/me/password').set('Authorization', `Bearer ${accessToken}`);
    await change.send({ currentPassword: person.password, newPassword: 'battery staple horse' }).expect(200);
    expect((await post(await assertionFor(user.id)).expect(401)).body.code).toBe('AUTH_ASSERTION_INVALID');
  });

  it('is not opened where a second factor is required by somebody who would have to add the first one', async () => {
    const { ADOPTION_PUBLIC_KEY } = ALL_ROUTES;
    const other = await start({ ADOPTION_PUBLIC_KEY, SECOND_FACTOR: 'required' }, () => ({ clock, mailer }));
    const { user } = await signUp(service);
    const response = await post(await assertionFor(user.id), other).expect(401);
    expect([response.body.code, response.get('Set-Cookie')]).toEqual(['AUTH_ASSERTION_INVALID', undefined]);
  });

  it('is not opened before the address is verified where that is required', async () => {
    const { ADOPTION_PUBLIC_KEY } = ALL_ROUTES;
    const other = await start({ ADOPTION_PUBLIC_KEY, EMAIL_VERIFICATION: 'required' }, () => ({ clock, mailer }));
    const { user } = await signUp(service);
    expect((await post(await assertionFor(user.id), other).expect(403)).body.code).toBe('AUTH_EMAIL_UNVERIFIED');
  });
});

describe('adoption', () => {
  it('is off without a key', async () => {
    const other = await start({}, () => ({ clock }));
    await post(await assertionFor(UNKNOWN_USER), other).expect(404);
  });

  it('ends at its date', async () => {
    const ends = Math.floor(clock.now() / 1_000) * 1_000 + 10 * MINUTE;
    const env = { ADOPTION_PUBLIC_KEY: PUBLIC_KEYS, ADOPTION_ENDS: new Date(ends).toISOString().replace('.000', '') };
    const other = await start(env, () => ({ clock }));
    const { user } = await signUp(service);
    clock.advance(ends - clock.now() - 1);
    await post(await assertionFor(user.id), other).expect(200);
    clock.advance(1);
    await post(await assertionFor(user.id), other).expect(404);
  });
});
