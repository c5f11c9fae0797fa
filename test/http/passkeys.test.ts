// Proves SPEC 20.14; ASVS 6.7.2; nist-2, nist-3, nist-4, nist-10, nist-12

import { describe, expect, it } from 'vitest';
import { passkeysOf } from '../../src/application/storage/credentials.ts';
import { eventsOf } from '../../src/application/storage/events.ts';
import { messagesOf } from '../../src/application/storage/outbox.ts';
import { purgeRows } from '../../src/application/storage/rows.ts';
import { CHALLENGE_LIFETIME, PASSKEYS_PER_USER } from '../../src/domain/passkey.ts';
import { type AuthenticatorOptions, authenticator } from '../support/authenticator.ts';
import { aPasskey } from '../support/builders.ts';
import { fixedClock } from '../support/fixed-clock.ts';
import { decode, refreshWith, servicesOverOneDatabase, signUp, tokensOf } from '../support/http/auth-http.ts';

const { start } = servicesOverOneDatabase();
const clock = fixedClock(Date.UTC(2026, 0, 1, 12));
const ORIGIN = 'https://app.example.org';
const ENV = { WEBAUTHN_RP_ID: 'example.org', ALLOWED_ORIGINS_DEV: ORIGIN, JWT_AUTHENTICATION_CLAIMS: 'true' };
const service = await start(ENV, () => ({ clock }));

const newKey = (given: AuthenticatorOptions = {}) => authenticator({ rpId: 'example.org', origin: ORIGIN, ...given });

const as = (accessToken: string) => {
  const send = (method: 'get' | 'post' | 'patch' | 'delete', path: string, body?: object) => {
    const request = service.http[method](path).set('Authorization', `Bearer ${accessToken}`);
    return body === undefined ? request : request.send(body);
  };
  return {
    send,
    creationOptions: async () => (await send('post', '/users/me/passkeys/options').expect(200)).body.data,
    passkeys: async () => (await send('get', '/users/me/factors').expect(200)).body.data.passkeys,
    add: (credential: object, name?: string) => send('post', '/users/me/passkeys', { credential, name }),
  };
};

const loginOptions = async () => (await service.http.post('/auth/passkey/options').expect(200)).body.data;
const logIn = (credential: object) => service.http.post('/auth/passkey').send({ credential });

/** A user with a passkey. */
const enrolled = async (given: AuthenticatorOptions = {}) => {
  const held = await signUp(service);
  const key = newKey(given);
  const me = as(held.accessToken);
  const { body } = await me.add(key.create(await me.creationOptions())).expect(201);
  return { ...held, key, me, passkey: body.data };
};

const kindsOf = async (userId: string) =>
  (await eventsOf(service.ports.records, { userId, before: null, limit: 100 })).map(({ kind }) => kind);
const mailOf = async (userId: string) => (await messagesOf(service.ports.records, userId)).map(({ kind }) => kind);

describe('registering a passkey', () => {
  it('makes options for a discoverable credential, with a random handle for the user', async () => {
    const { user, person, accessToken } = await signUp(service);
    const options = await as(accessToken).creationOptions();
    expect(options).toMatchObject({
      rp: { id: 'example.org' },
      user: { name: person.username, id: expect.stringMatching(/^[\w-]{43}$/) },
      authenticatorSelection: { residentKey: 'required', userVerification: 'preferred' },
      attestation: 'none',
      excludeCredentials: [],
    });
    // EdDSA, ES256 and RS256.
    expect(options.pubKeyCredParams.map(({ alg }: { alg: number }) => alg)).toEqual([-8, -7, -257]);
    expect(Buffer.from(options.user.id, 'base64url').toString('latin1')).not.toContain(user.id);
  });

  it('stores the passkey, lists it, notifies its user, and excludes it from further options', async () => {
    const { user, me, key, passkey } = await enrolled({
      aaguid: 'ea9b8d66-4d01-1d21-3ce4-b6b48cb575d4',
      isSynced: true,
    });
    const expected = {
      credentialId: key.id,
      name: 'Google Password Manager',
      synced: true,
      backedUp: false,
      lastUsedAt: null,
    };
    expect(passkey).toMatchObject(expected);
    expect(await me.passkeys()).toEqual([passkey]);
    expect(await kindsOf(user.id)).toContain('passkey-added');
    expect(await mailOf(user.id)).toContain('passkey-added');
    const { excludeCredentials, user: named } = await me.creationOptions();
    expect(excludeCredentials).toEqual([{ type: 'public-key', id: key.id, transports: ['internal'] }]);
    const second = newKey().create({ challenge: (await me.creationOptions()).challenge, user: named });
    await me.add(second, 'Key ring').expect(201);
    expect((await me.passkeys()).map(({ name }: { name: string }) => name)).toEqual([
      'Google Password Manager',
      'Key ring',
    ]);
  });

  it('stores one that the browser has made without a question', async () => {
    const { accessToken } = await signUp(service);
    const me = as(accessToken);
    const silent = { isUserPresent: false, isUserVerified: false };
    const credential = newKey().create(await me.creationOptions(), silent);
    const body = { credential, mediation: 'conditional' };
    const { status } = await me.send('post', '/users/me/passkeys', body);
    expect([status, await me.passkeys()]).toMatchObject([201, [{ credentialId: credential.id }]]);
    const other = { credential: newKey().create(await me.creationOptions()), mediation: 'silent' };
    expect((await me.send('post', '/users/me/passkeys', other).expect(400)).body.details).toMatchObject([
      { field: 'mediation' },
    ]);
    expect((await me.add(other.credential, '\u202egnp.exe').expect(400)).body.details).toMatchObject([
      { field: 'name', code: 'invalid_characters' },
    ]);
  });

  it('accepts an answer once, in its own session, until its challenge expires', async () => {
    const { accessToken, person } = await signUp(service);
    const me = as(accessToken);
    const [key, other] = [newKey(), newKey()];
    const options = await me.creationOptions();
    const login = await service.http.post('/auth/login').send({ account: person.username, password: person.password });
    const elsewhere = as(login.body.data.accessToken);
    expect((await elsewhere.add(key.create(options)).expect(401)).body.code).toBe('AUTH_PASSKEY_INVALID');
    const answers = await Promise.all([me.add(key.create(options)), me.add(other.create(options))]);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 401]);
    const stale = await me.creationOptions();
    clock.advance(CHALLENGE_LIFETIME);
    const raised = await me.send('post', '/auth/step-up', { password: person.password }).expect(200);
    const { body } = await as(raised.body.data.accessToken).add(newKey().create(stale)).expect(401);
    expect(body.code).toBe('AUTH_PASSKEY_INVALID');
    expect(await as(raised.body.data.accessToken).passkeys()).toHaveLength(1);
  });

  it('refuses a credential that somebody has', async () => {
    const { key } = await enrolled();
    const other = as((await signUp(service)).accessToken);
    const { body } = await other.add(key.create(await other.creationOptions())).expect(409);
    expect(body.code).toBe('DB_UNIQUE_VIOLATION');
    expect(await other.passkeys()).toEqual([]);
  });

  it('refuses more passkeys than a user may have, also at the same time, and stores nothing then', async () => {
    const { user, me } = await enrolled();
    const { records } = service.ports;
    const [{ userHandle } = expect.unreachable()] = await passkeysOf(records, user.id);
    for (let count = 2; count < PASSKEYS_PER_USER; count += 1)
      await records.insert('passkeys', aPasskey({ userId: user.id, userHandle }));
    const answers = await Promise.all(
      [newKey(), newKey()].map(async (key) => me.add(key.create(await me.creationOptions()))),
    );
    expect(answers.map(({ status, body }) => body.code ?? status).sort()).toEqual([201, 'AUTH_PASSKEY_INVALID']);
    expect(await me.passkeys()).toHaveLength(PASSKEYS_PER_USER);
    const added = (kinds: readonly string[]) => kinds.filter((kind) => kind === 'passkey-added').length;
    expect([added(await kindsOf(user.id)), added(await mailOf(user.id))]).toEqual([2, 2]);
  });
});

describe('changing passkeys', () => {
  it('renames a passkey, and removes it with a list of those that are left', async () => {
    const { user, me, key, passkey } = await enrolled();
    const path = `/users/me/passkeys/${passkey.id}`;
    expect((await me.send('patch', path, { name: ' Key ring ' }).expect(200)).body.data.name).toBe('Key ring');
    const second = newKey();
    await me.add(second.create(await me.creationOptions())).expect(201);
    const { body } = await me.send('delete', path).expect(200);
    expect(body.data).toEqual({
      rpId: 'example.org',
      userId: expect.stringMatching(/^[\w-]{43}$/),
      allAcceptedCredentialIds: [second.id],
    });
    expect(await kindsOf(user.id)).toContain('passkey-removed');
    expect(await mailOf(user.id)).toContain('passkey-removed');
    const removed = await logIn(key.get(await loginOptions())).expect(404);
    expect(removed.body.code).toBe('DB_RECORD_NOT_FOUND');
  });

  it('knows no passkey of another user', async () => {
    const { passkey, me } = await enrolled();
    const other = as((await signUp(service)).accessToken);
    const path = `/users/me/passkeys/${passkey.id}`;
    for (const answer of [other.send('patch', path, { name: 'Mine' }), other.send('delete', path)])
      expect((await answer.expect(404)).body.code).toBe('DB_RECORD_NOT_FOUND');
    expect(await me.passkeys()).toEqual([passkey]);
  });
});

describe('POST /auth/passkey', () => {
  const claims = (token: string) => decode(token).claims;

  it('opens a session of two factors, if the device has verified its user', async () => {
    const { user, key, me } = await enrolled();
    const { body, ...response } = await logIn(key.get(await loginOptions())).expect(200);
    expect(body.data.user).toEqual(user);
    expect(claims(body.data.accessToken)).toMatchObject({ sub: user.id, amr: ['pop', 'user', 'mfa'], acr: 'aal2' });
    const cookie = tokensOf({ body, ...response, headers: response.headers } as never);
    await refreshWith(service, cookie.cookie).expect(200);
    expect(await me.passkeys()).toMatchObject([{ lastUsedAt: new Date(clock.now()).toISOString() }]);
  });

  it('stores nothing for options, and accepts an answer to them once, of many at the same time', async () => {
    const { user, key } = await enrolled();
    const all = { time: 'expiresAt', until: Number.MAX_SAFE_INTEGER, limit: 1_000 } as const;
    const used = await purgeRows(service.ports.records, 'usedValues', all);
    expect(used).toBeGreaterThan(0);
    const options = await loginOptions();
    expect(await purgeRows(service.ports.records, 'usedValues', all)).toBe(0);
    const before = (await service.ports.sessions.listByUser(user.id, clock.now())).length;
    const ofOther = await logIn(key.get(options, { origin: 'https://evil.test' })).expect(401);
    expect(ofOther.body.code).toBe('AUTH_PASSKEY_INVALID');
    const credential = key.get(options);
    const answers = await Promise.all(Array.from({ length: 40 }, () => logIn(credential)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(new Set(answers.map(({ body }) => body.code))).toEqual(new Set([undefined, 'AUTH_PASSKEY_INVALID']));
    expect(await service.ports.sessions.listByUser(user.id, clock.now())).toHaveLength(before + 1);
  });

  it('refuses an expired challenge, one of a registration, and one that nobody has made', async () => {
    const { key, me } = await enrolled();
    const [stale, ofRegistration] = [await loginOptions(), await me.creationOptions()];
    clock.advance(CHALLENGE_LIFETIME);
    const forged = { challenge: Buffer.from('..0.x.y').toString('base64url') };
    for (const options of [stale, ofRegistration, forged])
      expect((await logIn(key.get(options)).expect(401)).body.code).toBe('AUTH_PASSKEY_INVALID');
  });

  it.each<[string, AuthenticatorOptions, readonly number[], boolean]>([
    ['is bound to its device', {}, [9, 4], true],
    ['is synced', { isSynced: true, isBackedUp: true }, [9, 4], false],
    ['does not count', { counter: 0 }, [0, 0], false],
  ])('tells the owner of a counter that went back, if the key %s', async (_what, given, counters, isTold) => {
    const { user, key } = await enrolled(given);
    for (const counter of counters) await logIn(key.get(await loginOptions(), { counter })).expect(200);
    for (const kinds of [await kindsOf(user.id), await mailOf(user.id)])
      expect(kinds.includes('passkey-copy-suspected')).toBe(isTold);
  });
});

it('GET /.well-known/webauthn lists the origins of the service and of its applications', async () => {
  const { body } = await service.http.get('/.well-known/webauthn').expect(200);
  expect(body).toEqual({ origins: ['https://auth.example.org', ORIGIN] });
});
