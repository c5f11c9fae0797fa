// Proves ASVS 6.1.3, 6.3.3

import { describe, expect, it } from 'vitest';
import { memoryCounts } from '../../src/adapters/limits/counts.ts';
import { countAttempts } from '../../src/adapters/limits/login-attempts.ts';
import { linksOf } from '../../src/application/storage/credentials.ts';
import { eventsOf } from '../../src/application/storage/events.ts';
import { authenticator } from '../support/authenticator.ts';
import { codeAt, wrongCodeAt } from '../support/authenticator-app.ts';
import { fixedClock } from '../support/fixed-clock.ts';
import { decode, servicesOverOneDatabase, signUp } from '../support/http/auth-http.ts';
import { addApp, addPasskey, requestsWith } from '../support/http/factors.ts';
import { aPerson } from '../support/http/service.ts';

const { start } = servicesOverOneDatabase();
const clock = fixedClock(Date.UTC(2026, 0, 1, 12));
const ORIGIN = 'https://app.example.org';
const STEP = 30_000;
const overrides = () => ({ clock, attempts: countAttempts(memoryCounts({ now: clock.now }), clock) });
const env = { WEBAUTHN_RP_ID: 'example.org', ALLOWED_ORIGINS_DEV: ORIGIN };
const before = await start(env, overrides);
const service = await start({ ...env, SECOND_FACTOR: 'required', JWT_AUTHENTICATION_CLAIMS: 'true' }, overrides);

type Person = ReturnType<typeof aPerson>;

const pairOf = (setCookie: string | undefined): string => setCookie?.split(';')[0] ?? '';
const post = (path: string, cookie: string, body: object = {}) =>
  service.http.post(path).set('Cookie', cookie).send(body);
const logIn = ({ username, password }: Person) =>
  service.http.post('/auth/login').send({ account: username, password });

/** The cookie of a pending log-in. */
const pendingOf = async (person: Person): Promise<string> => {
  const response = await logIn(person).expect(401);
  expect(response.body.code).toBe('AUTH_SECOND_FACTOR_REQUIRED');
  return pairOf(response.get('Set-Cookie')?.[0]);
};

const startApp = async (pending: string) => (await post('/auth/login/pending/totp', pending).expect(201)).body.data;
const show = (pending: string, body: object) => post('/auth/login/second-factor', pending, body);
const now = (secret: string) => ({ code: codeAt(secret, clock.now()) });
const sessionsOf = async ({ username }: Person) => {
  const user = (await service.ports.users.findByUsername(username)) ?? expect.unreachable();
  return service.ports.sessions.listByUser(user.id, clock.now());
};

describe('with SECOND_FACTOR=required', () => {
  it('a registration opens no session, and waits for the first code of an app', async () => {
    const person = aPerson();
    const response = await service.http.post('/auth/register').send(person).expect(202);
    expect(response.body).toMatchObject({ success: true, data: null });
    expect(response.get('Set-Cookie')).toHaveLength(1);
    const pending = pairOf(response.get('Set-Cookie')?.[0]);
    expect(await sessionsOf(person)).toEqual([]);
    const waits = await service.http.get('/auth/login/pending').set('Cookie', pending).expect(200);
    expect(waits.body.data).toMatchObject({ methods: [], enrol: true, passkey: null });
    const { secret, uri, qr } = await startApp(pending);
    expect(new URL(uri).searchParams.get('secret')).toBe(secret);
    expect(qr).toMatch(/^<svg /);
    const { body } = await show(pending, { ...now(secret), remember: true }).expect(200);
    expect(body.data.user.username).toBe(person.username);
    expect(new Set(body.data.recoveryCodes).size).toBe(10);
    expect(decode(body.data.accessToken).claims).toMatchObject({ amr: ['pwd', 'otp', 'mfa'], acr: 'aal2' });
    const kinds = (await eventsOf(service.ports.records, { userId: body.data.user.id, before: null, limit: 10 })).map(
      ({ kind }) => kind,
    );
    expect(kinds.toSorted()).toEqual(['device-remembered', 'logged-in', 'registered', 'second-factor-added']);
    clock.advance(STEP);
    const later = await show(await pendingOf(person), now(secret)).expect(200);
    expect(later.body.data).not.toHaveProperty('recoveryCodes');
  });

  it('a log-in without a factor adds one, and can do nothing else', async () => {
    const { person, accessToken } = await signUp(before);
    const pending = await pendingOf(person);
    const refused = { code: 'AUTH_SECOND_FACTOR_INVALID', details: null };
    const { secret: forgotten } = await startApp(pending);
    const { secret } = await startApp(pending);
    for (const body of [
      now(forgotten),
      { code: wrongCodeAt(secret, clock.now()) },
      { recoveryCode: 'ABCD-EFGH-JKMN-PQRS' },
    ]) {
      expect((await show(pending, body).expect(401)).body).toMatchObject(refused);
    }
    const { body } = await show(pending, now(secret)).expect(200);
    expect(body.data.recoveryCodes).toHaveLength(10);
    clock.advance(STEP);
    expect((await show(pending, now(secret)).expect(401)).body).toMatchObject(refused);
    // Sessions of before go on. They cannot change factors any more.
    const response = await service.http.get('/users/me/factors').set('Authorization', `Bearer ${accessToken}`);
    expect(response.body.code).toBe('AUTH_STEP_UP_REQUIRED');
  });

  it('nobody with the password alone adds an app to those of a user', async () => {
    const person = aPerson();
    const registered = pairOf((await service.http.post('/auth/register').send(person)).get('Set-Cookie')?.[0]);
    const attacker = await pendingOf(person);
    const theirs = await startApp(attacker);
    const mine = await startApp(registered);
    await show(registered, now(mine.secret)).expect(200);
    clock.advance(STEP);
    await post('/auth/login/pending/totp', attacker).expect(401);
    await show(attacker, now(theirs.secret)).expect(401);
    const waits = await service.http.get('/auth/login/pending').set('Cookie', attacker).expect(200);
    expect(waits.body.data).toMatchObject({ methods: ['totp', 'recovery-code'], enrol: false });
  });

  it('the mail about a log-in on a new device undoes the app that this log-in has added, too', async () => {
    const { person, user } = await signUp(before);
    const logsIn = service.http.post('/auth/login').set('User-Agent', 'a stranger');
    const refused = await logsIn.send({ account: person.username, password: person.password }).expect(401);
    const pending = pairOf(refused.get('Set-Cookie')?.[0]);
    const { secret } = await startApp(pending);
    await show(pending, now(secret)).set('User-Agent', 'a stranger').expect(200);
    const links = await linksOf(service.ports.records, user.id, clock.now());
    expect(links.map(({ purpose, keeps }) => [purpose, keeps])).toEqual(Array(2).fill(['factors-undo', []]));
  });

  /** A user with a passkey alone, whose session is of the time before. */
  const withPasskey = async () => {
    const held = await signUp(before);
    const key = authenticator({ rpId: 'example.org', origin: ORIGIN });
    await addPasskey(requestsWith(held.accessToken, service), key);
    return { ...held, key };
  };

  it('no device is remembered for a user with a passkey alone, who shows it each time', async () => {
    const { person, key, user } = await withPasskey();
    const pending = await pendingOf(person);
    const { passkey } = (await service.http.get('/auth/login/pending').set('Cookie', pending).expect(200)).body.data;
    const response = await show(pending, { credential: key.get(passkey), remember: true }).expect(200);
    expect((response.get('Set-Cookie') ?? []).filter((each) => each.startsWith('remembered_device='))).toEqual([]);
    const kinds = (await eventsOf(service.ports.records, { userId: user.id, before: null, limit: 10 })).map(
      ({ kind }) => kind,
    );
    expect(kinds).not.toContain('device-remembered');
  });
});

it('with SECOND_FACTOR=optional nobody starts an app in a pending log-in', async () => {
  await before.http.post('/auth/login/pending/totp').expect(401);
  const { accessToken, person } = await signUp(before);
  await addApp(requestsWith(accessToken, before), clock);
  const response = await before.http
    .post('/auth/login')
    .send({ account: person.username, password: person.password })
    .expect(401);
  const started = await before.http
    .post('/auth/login/pending/totp')
    .set('Cookie', pairOf(response.get('Set-Cookie')?.[0]))
    .expect(401);
  expect(started.body.code).toBe('AUTH_SECOND_FACTOR_INVALID');
});

it('SECOND_FACTOR is not required where nobody can add an authenticator app', async () => {
  await expect(start({ SECOND_FACTOR: 'required' }, () => ({ secrets: { factors: null } }))).rejects.toThrow(
    'SECOND_FACTOR: must not be required without FACTOR_KEYS',
  );
});
