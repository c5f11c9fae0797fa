// Proves ASVS 7.2.4, 7.3.2, 10.4.8; nist-6, nist-13, bcp-7, bcp-8

import { describe, expect, it } from 'vitest';
import { makeRecoveryCodes, removeApp, startApp } from '../../../src/application/factors/manage-factors.ts';
import { removePasskey, renamePasskey } from '../../../src/application/factors/passkeys.ts';
import { assertSteppedUp, stepUp } from '../../../src/application/factors/step-up.ts';
import { lockedFactorOwner } from '../../../src/application/sessions/current-user.ts';
import { prepareSession, replaceSession, storeSession } from '../../../src/application/sessions/open-session.ts';
import { eventsOf } from '../../../src/application/storage/events.ts';
import { authenticatedBy, FACTOR_CHANGE, type Method, type SecondFactorPolicy } from '../../../src/domain/assurance.ts';
import { NO_KEYS } from '../../../src/domain/device.ts';
import { NO_ORIGIN } from '../../../src/domain/event.ts';
import { registeredAda } from '../../support/account.ts';
import { ADA, application, DAY, MINUTE } from '../../support/application.ts';
import { aFactor, aPasskey } from '../../support/builders.ts';

const REQUIRED = { code: 'AUTH_SECOND_FACTOR_REQUIRED' };
const RECENT = { recent: 5 * MINUTE };

const twoFactorsAt = (at: number) =>
  authenticatedBy([
    { method: 'password', at },
    { method: 'totp', at },
  ]);

/** Ada with one session. */
const setUp = async (given: Parameters<typeof application>[0] = {}) => {
  const app = application(given);
  const { user, sessionId, accessToken, refreshToken } = await app.register(ADA);
  const key = { id: sessionId, userId: user.id };
  const presented = { presented: { proof: null } };
  const step = (password = ADA.password, refreshTokens: readonly string[] = []) =>
    stepUp(app)({
      userId: user.id,
      sessionId,
      tokenIssuedAt: app.clock.now() / 1000,
      factor: { password },
      refreshTokens,
      ...presented,
    });
  const tokenOf = async (text: string) => {
    const verified = await app.authenticate(text);
    return verified.ok ? verified.token : expect.unreachable(verified.reason);
  };
  const assertWith = async (required: Parameters<ReturnType<typeof assertSteppedUp>>[1], text = accessToken) =>
    assertSteppedUp(app)(await tokenOf(text), required);
  return {
    app,
    user,
    key,
    accessToken,
    refreshToken,
    step,
    tokenOf,
    assertWith,
    session: async () => (await app.sessions.find(key)) ?? expect.unreachable('the session has ended'),
    enrol: () => app.users.update(user.id, { secondFactorAt: app.clock.now(), now: app.clock.now() }),
  };
};

describe('a session', () => {
  it('ends after its greatest age, however often it is refreshed', async () => {
    const { app, session, refreshToken, step } = await setUp({ sessionMaxLifetime: 10 * DAY });
    const start = app.clock.now();
    app.clock.advance(6 * DAY);
    const second = await app.refresh([refreshToken]);
    expect(await session()).toMatchObject({ expiresAt: start + 10 * DAY });
    app.clock.advance(3 * DAY);
    const third = await app.refresh([second.refreshToken]);
    await step();
    app.clock.advance(DAY - 1000);
    const fourth = await app.refresh([third.refreshToken]);
    // Its user has authenticated since, so the session goes on.
    app.clock.advance(6 * DAY);
    expect(await app.refresh([fourth.refreshToken])).toHaveProperty('accessToken');
    expect(await session()).toMatchObject({ expiresAt: start + 19 * DAY });
  });

  it('lives no longer than its greatest age when it is opened', async () => {
    const { app, key, refreshToken, session } = await setUp({ sessionMaxLifetime: DAY });
    const expiresAt = app.clock.now() + DAY;
    expect(await session()).toMatchObject({ expiresAt });
    app.clock.advance(DAY / 2);
    await app.endOtherSessions({ userId: key.userId, sessionId: key.id, presented: [refreshToken] });
    expect(await app.sessions.listByUser(key.userId, app.clock.now())).toMatchObject([{ expiresAt }]);
  });

  it.each([
    ['its greatest age', { sessionMaxLifetime: DAY }],
    ['the lifetime of its refresh token', { jwtRefreshExpiresIn: DAY }],
  ])('gives access tokens that expire with it, after %s', async (_end, settings) => {
    const { app, accessToken, refreshToken, session, step, tokenOf } = await setUp(settings);
    const lifetimeOf = async (text: string) => (await tokenOf(text)).claims.exp * 1000 - app.clock.now();
    expect(await lifetimeOf(accessToken)).toBe(15 * MINUTE);
    app.clock.advance(DAY - 5 * MINUTE);
    expect(await lifetimeOf((await step()).accessToken)).toBe(5 * MINUTE);
    const refreshed = await app.refresh([refreshToken]);
    const end = (await session()).expiresAt - app.clock.now();
    expect(await lifetimeOf(refreshed.accessToken)).toBe(Math.min(end, 15 * MINUTE));
  });
});

it('claims about the authentication are in access tokens only if they are configured', async () => {
  const without = await setUp();
  expect((await without.tokenOf(without.accessToken)).claims).not.toHaveProperty('amr');

  const { app, tokenOf, accessToken, refreshToken, step } = await setUp({ jwtAuthenticationClaims: true });
  const auth_time = app.clock.now() / 1000;
  expect((await tokenOf(accessToken)).claims).toMatchObject({ auth_time, amr: ['pwd'], acr: 'aal1' });
  app.clock.advance(15 * MINUTE);
  const refreshed = await app.refresh([refreshToken]);
  expect((await tokenOf(refreshed.accessToken)).claims).toMatchObject({ auth_time, amr: ['pwd'], acr: 'aal1' });
  const raised = await tokenOf((await step()).accessToken);
  expect(raised.claims).toMatchObject({ auth_time: auth_time + 900, amr: ['pwd'], acr: 'aal1' });
});

describe('stepUp', () => {
  it('raises the session of the request, with an event', async () => {
    const { app, user, session, step, tokenOf, key } = await setUp();
    app.clock.advance(5 * MINUTE);
    expect(await tokenOf((await step()).accessToken)).toMatchObject({ sessionId: key.id, claims: { sub: user.id } });
    expect(await session()).toMatchObject({ authenticatedAt: app.clock.now(), amr: ['pwd'], rotation: 0 });
    const [event] = await eventsOf(app.records, { userId: user.id, before: null, limit: 1 });
    expect(event).toMatchObject({ kind: 'stepped-up', sessionId: key.id });
  });

  it('makes a copy of the current refresh token worthless, whose use ends the session', async () => {
    const { app, user, session, step, refreshToken } = await setUp();
    const other = await app.login({ account: ADA.username, password: ADA.password });
    const foreign = 'refreshToken' in other ? other.refreshToken : expect.unreachable();
    const { refreshToken: next = expect.unreachable() } = await step(ADA.password, [foreign, refreshToken]);
    expect(await session()).toMatchObject({ rotation: 1, amr: ['pwd'] });
    app.clock.advance(MINUTE);
    const { refreshToken: last } = await app.refresh([next]);
    await expect(app.refresh([refreshToken])).rejects.toMatchObject({ code: 'AUTH_FAILED' });
    await expect(app.refresh([last])).rejects.toMatchObject({ code: 'AUTH_FAILED' });
    expect(await app.refresh([foreign])).toHaveProperty('refreshToken');
    const endings = await eventsOf(app.records, { userId: user.id, before: null, limit: 9 });
    expect(endings).toContainEqual(expect.objectContaining({ kind: 'session-ended', reason: 'token-replayed' }));
  });

  it('rotates nothing if another tab was first, and takes that for no theft', async () => {
    const { app, step, refreshToken } = await setUp();
    const { refreshToken: next } = await app.refresh([refreshToken]);
    app.clock.advance(MINUTE);
    expect(await step(ADA.password, [refreshToken])).not.toHaveProperty('refreshToken');
    expect(await app.refresh([next])).toHaveProperty('refreshToken');
  });

  it('changes nothing with a wrong password, which counts for the device', async () => {
    const { session, step } = await setUp();
    const before = await session();
    for (let count = 0; count < 50; count += 1)
      await expect(step('wrong')).rejects.toMatchObject({ code: 'AUTH_CREDENTIALS_INVALID' });
    await expect(step()).rejects.toMatchObject({ code: 'CLIENT_REQUEST_RATE_LIMIT_EXCEEDED' });
    expect(await session()).toEqual(before);
  });

  it('changes nothing when the password is replaced meanwhile', async () => {
    const { app, user, session, step } = await setUp();
    const before = await session();
    const { verify } = app.hasher;
    app.hasher.verify = async (password, hash) => {
      const matches = await verify(password, hash);
      const passwordHash = await app.hasher.hash('another');
      await app.users.setPasswordHash(user.id, { passwordHash, isOfNewPassword: true, now: app.clock.now() });
      return matches;
    };
    await expect(step()).rejects.toMatchObject({ code: 'AUTH_CREDENTIALS_INVALID' });
    expect(await session()).toEqual(before);
  });
});

describe('assertSteppedUp', () => {
  it('refuses a session whose user has shown nothing recently, until a step-up', async () => {
    const { app, assertWith, step } = await setUp();
    await assertWith(RECENT);
    app.clock.advance(5 * MINUTE);
    const missing = { code: 'AUTH_STEP_UP_REQUIRED', stepUp: { maxAge: 5 * MINUTE } };
    await expect(assertWith(RECENT)).rejects.toMatchObject(missing);
    await step();
    await assertWith(RECENT);
  });

  it('refuses a change of factors in a session of two that were shown long ago, also after the password alone', async () => {
    const { app, key, assertWith, enrol, step, tokenOf, session } = await setUp({ jwtAuthenticationClaims: true });
    await enrol();
    await app.sessions.update(key, twoFactorsAt(app.clock.now()));
    await assertWith(FACTOR_CHANGE);
    const shownAt = app.clock.now() / 1000;
    app.clock.advance(5 * MINUTE);
    const missing = (stepUp: object) => ({ code: 'AUTH_STEP_UP_REQUIRED', stepUp });
    await expect(assertWith(FACTOR_CHANGE)).rejects.toMatchObject(missing({ acr: 'aal2', maxAge: 5 * MINUTE }));
    const raised = await tokenOf((await step()).accessToken);
    await expect(assertWith(FACTOR_CHANGE)).rejects.toMatchObject(missing({ acr: 'aal2' }));
    // The token does not say that two factors were shown now.
    expect(raised.claims).toMatchObject({ acr: 'aal2', auth_time: shownAt });
    const change = async () => {
      const caller = { userId: key.userId, sessionId: key.id };
      return app.transactions.run((stores) => lockedFactorOwner(app, stores, caller));
    };
    await expect(change()).rejects.toMatchObject(missing({ acr: 'aal2' }));
    await app.sessions.update(key, authenticatedBy([{ method: 'totp', at: app.clock.now() }], await session()));
    await assertWith(FACTOR_CHANGE);
    await change();
  });

  it('refuses a session that has ended', async () => {
    const { app, key, assertWith } = await setUp();
    await app.sessions.end(key);
    await expect(assertWith(RECENT)).rejects.toMatchObject({ code: 'AUTH_TOKEN_INVALID' });
  });
});

describe('for a user who has a second factor', () => {
  const opened = async (methods: readonly [Method, ...Method[]]) => {
    const { app, user, enrol } = await setUp();
    await enrol();
    const stored = (await app.users.findById(user.id)) ?? expect.unreachable();
    const [first, ...others] = methods.map((method) => ({ method, at: app.clock.now() }));
    const { session } = await prepareSession(app, {
      user: stored,
      origin: NO_ORIGIN,
      keys: NO_KEYS,
      authentications: [first ?? expect.unreachable(), ...others],
    });
    const opening = { kind: 'logged-in', user: stored, origin: NO_ORIGIN } as const;
    await app.transactions.run((stores) => storeSession(app, stores, session, opening));
    return app.sessions.find(session);
  };

  it('no session is opened without it', async () => {
    for (const method of ['password', 'registration', 'totp', 'recovery-code', 'passkey'] as const)
      await expect(opened([method])).rejects.toMatchObject(REQUIRED);
    expect(await opened(['verified-passkey'])).toMatchObject({ amr: ['pop', 'user', 'mfa'] });
    expect(await opened(['password', 'totp'])).toMatchObject({ amr: ['pwd', 'otp', 'mfa'] });
  });

  it('a session is not replaced without it, and keeps what was shown', async () => {
    const { app, user, key, enrol } = await setUp();
    const stored = (await enrol()) ?? expect.unreachable();
    const replace = (sessionId: string) =>
      app.transactions.run((stores) =>
        replaceSession(app, stores, { user: stored, sessionId, origin: NO_ORIGIN, hookClaims: undefined }),
      );
    await expect(replace(key.id)).rejects.toMatchObject({ code: 'AUTH_STEP_UP_REQUIRED', stepUp: { acr: 'aal2' } });
    expect(await app.sessions.find(key)).not.toBeNull();
    const shown = twoFactorsAt(app.clock.now() - MINUTE);
    await app.sessions.update(key, shown);
    await replace(key.id);
    const [replaced] = await app.sessions.listByUser(user.id, app.clock.now());
    expect(replaced?.id).not.toBe(key.id);
    expect(replaced).toMatchObject(shown);
  });
});

const adminUsers = [{ attribute: 'roles', value: 'admin', scopes: ['users:read'] as const }];

it.each<[string, SecondFactorPolicy, object]>([
  ['that the guard admitted before its user got a second factor', {}, { secondFactorAt: 1 }],
  ['without the passkey of its user, where all need a second factor', { secondFactor: 'required' }, {}],
  ['without the passkey of an operator', { adminUsers }, { attributes: { roles: ['admin'] } }],
])('a change of factors is refused in a session %s', async (_which, policy, change) => {
  const { app: service, user, session, about } = await registeredAda();
  const app = { ...service, ...policy };
  const now = app.clock.now();
  const factor = aFactor({ userId: user.id, confirmedAt: now });
  const passkey = aPasskey({ userId: user.id });
  await app.records.insert('factors', factor);
  await app.records.insert('passkeys', passkey);
  await app.users.update(user.id, { ...change, now });
  const before = await about(user.id);
  const caller = { userId: user.id, sessionId: session.sessionId };
  const changes = [
    () => startApp(app, app.secrets.factors)(caller),
    () => makeRecoveryCodes(app)(caller),
    () => removeApp(app)(caller, factor.id),
    () => renamePasskey(app)(caller, passkey.id, 'Theirs'),
    () => removePasskey(app)(caller, passkey.id),
  ];
  for (const change of changes) await expect(change()).rejects.toMatchObject({ code: 'AUTH_STEP_UP_REQUIRED' });
  expect(await about(user.id)).toEqual(before);
});
