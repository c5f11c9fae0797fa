// Proves ASVS 7.4.2
import { describe, expect, it } from 'vitest';
import {
  disableAccount,
  enableAccount,
  endSessionAsOperator,
  endSessionsAsOperator,
  mailResetLink,
  makeResetLink,
  unlinkIdentityAsOperator,
  unlockAccount,
} from '../../../src/application/accounts/operate-accounts.ts';
import { identitiesOf } from '../../../src/application/storage/credentials.ts';
import { eventsOf } from '../../../src/application/storage/events.ts';
import { NO_ORIGIN } from '../../../src/domain/event.ts';
import { FREE_FAILURES } from '../../../src/domain/login-throttle.ts';
import { BOB, EMAIL, INVALID_LINK, NO_RECORD, ORIGIN, registeredAda, summaryOf } from '../../support/account.ts';
import { ADA, application, MINUTE } from '../../support/application.ts';
import { anIdentity, aRememberedDevice } from '../../support/builders.ts';
import { tokenIn } from '../../support/mail/sender.ts';

describe('an operator', () => {
  it('ends all sessions of the user, learns how many, and each is recorded', async () => {
    const { app, user, session, ofAda, logIn } = await registeredAda();
    await logIn();
    const { sessions } = await ofAda();
    expect(await endSessionsAsOperator(app)(user.id, ORIGIN, 'stolen')).toBe(2);
    const after = await ofAda();
    const endings = after.events.slice(0, 2);
    expect(after.sessions).toEqual([]);
    expect(endings.map(summaryOf)).toEqual(Array(2).fill('session-ended: operator'));
    expect(endings.map(({ sessionId }) => sessionId).sort()).toEqual(sessions.map(({ id }) => id).sort());
    for (const ending of endings) expect(ending).toMatchObject({ ...ORIGIN, note: 'stolen' });
    await expect(app.refresh([session.refreshToken])).rejects.toMatchObject({ code: 'AUTH_FAILED' });
  });

  it('ends one session, or forgets one device', async () => {
    const { app, user, session, ofAda, happened } = await registeredAda();
    const { id } = (await ofAda()).sessions[0] ?? expect.unreachable();
    const device = aRememberedDevice({ userId: user.id, expiresAt: app.clock.now() + 1 });
    await app.records.insert('rememberedDevices', device);
    const end = (each: string, userId = user.id) => endSessionAsOperator(app)(userId, each, ORIGIN, 'stolen');
    for (const each of [id, device.id]) await expect(end(each, 'nobody')).rejects.toMatchObject(NO_RECORD);
    for (const each of [id, device.id]) await end(each);
    expect(await happened()).toEqual(['device-forgotten: operator', 'session-ended: operator', 'registered']);
    expect((await ofAda()).events[1]).toMatchObject({ note: 'stolen' });
    await expect(app.refresh([session.refreshToken])).rejects.toMatchObject({ code: 'AUTH_FAILED' });
    await expect(end(id)).rejects.toMatchObject(NO_RECORD);
  });

  it('unlinks an identity of the user, who is told', async () => {
    const { app, user, happened, pending } = await registeredAda();
    const [own, others] = [anIdentity({ userId: user.id }), anIdentity()];
    const { user: bob } = await app.register(BOB);
    for (const each of [own, { ...others, userId: bob.id }]) await app.records.insert('identities', each);
    const unlink = (id: string) => unlinkIdentityAsOperator(app)(user.id, id, ORIGIN);
    await expect(unlink(others.id)).rejects.toMatchObject(NO_RECORD);
    await unlink(own.id);
    expect(await identitiesOf(app.records, user.id)).toEqual([]);
    expect([await happened(), await pending()]).toEqual([
      ['identity-unlinked', 'registered'],
      [`identity-unlinked to ${EMAIL}`],
    ]);
  });

  it('unlocks an account whose log-ins wait after wrong passwords', async () => {
    const { app, user, happened } = await registeredAda();
    const guess = (account: string) => app.login({ account, password: 'wrong' });
    for (const account of ['ada', EMAIL]) {
      for (let tries = 0; tries <= FREE_FAILURES; tries += 1) await guess(account).catch(() => undefined);
      await expect(guess(account)).rejects.toMatchObject({ code: 'CLIENT_REQUEST_RATE_LIMIT_EXCEEDED' });
    }
    await unlockAccount(app)(user.id, ORIGIN);
    for (const account of ['ada', EMAIL])
      expect(await app.login({ account, password: ADA.password })).toHaveProperty('accessToken');
    expect(await happened()).toContain('unlocked');
    await expect(unlockAccount(app)('nobody', ORIGIN)).rejects.toMatchObject(NO_RECORD);
  });
});

describe('disabling an account', () => {
  const LOGIN = { account: 'ada', password: ADA.password };
  const BY_OPERATOR = NO_ORIGIN;

  const registered = async (given: Parameters<typeof application>[0] = {}) => {
    const app = application(given);
    const opened = await app.register(ADA);
    const kinds = async () =>
      (await eventsOf(app.records, { userId: opened.user.id, before: null, limit: 20 })).map(
        ({ kind, reason }) => reason ?? kind,
      );
    return { ...app, ...opened, kinds, disable: () => disableAccount(app)(opened.user.id, BY_OPERATOR) };
  };

  it('is recorded once, with the end of each session', async () => {
    const { disable, login, kinds } = await registered();
    await login(LOGIN);
    expect(await disable()).toStrictEqual({ changed: true, endedSessions: 2 });
    await expect(login(LOGIN)).rejects.toMatchObject({ code: 'AUTH_ACCOUNT_DISABLED' });
    expect(await disable()).toStrictEqual({ changed: false, endedSessions: 0 });
    expect(await kinds()).toStrictEqual(['operator', 'operator', 'disabled', 'logged-in', 'registered']);
  });

  it('refuses a log-in that had compared the password before', async () => {
    const app = await registered();
    const { run } = app.transactions;
    const ended: unknown[] = [];
    // The account is disabled after the log-in has read it, and before its session is stored.
    app.transactions.run = async (work) => {
      app.transactions.run = run;
      await app.users.update(app.user.id, { disabledAt: app.clock.now(), now: app.clock.now() });
      ended.push(...(await app.sessions.endByUser(app.user.id)));
      return run(work);
    };
    await expect(app.login(LOGIN)).rejects.toMatchObject({ code: 'AUTH_ACCOUNT_DISABLED' });
    expect(ended).toHaveLength(1);
    expect(await app.sessions.listByUser(app.user.id, app.clock.now())).toStrictEqual([]);
  });

  it('ends the session of a refresh that reads the account when it is disabled', async () => {
    const { user, users, sessions, clock, refresh, refreshToken } = await registered();
    await users.update(user.id, { disabledAt: clock.now(), now: clock.now() });
    await expect(refresh([refreshToken])).rejects.toMatchObject({ code: 'AUTH_FAILED' });
    expect(await sessions.listByUser(user.id, clock.now())).toStrictEqual([]);
  });
});

describe('enableAccount', () => {
  /** Ada, whose account was disabled a minute ago. */
  const setUp = async () => {
    const ada = await registeredAda();
    await disableAccount(ada.app)(ada.user.id, ORIGIN);
    ada.app.clock.advance(MINUTE);
    return { ...ada, enable: () => enableAccount(ada.app)(ada.user.id, ORIGIN) };
  };

  it('lets the user log in again, records it, and notifies nobody', async () => {
    const { app, ofAda, happened, pending, logIn, enable } = await setUp();
    expect(await enable()).toBe(true);
    const { user, events } = await ofAda();
    expect(user).toMatchObject({ disabledAt: null, updatedAt: app.clock.now(), passwordChangedAt: 0 });
    expect((await happened())[0]).toBe('enabled');
    expect(events[0]).toMatchObject({ at: app.clock.now(), ...ORIGIN });
    expect(await pending()).toEqual([]);
    expect(await logIn()).toHaveProperty('accessToken');
  });

  it('changes nothing about an account that is enabled, also when it is asked for many times at once', async () => {
    const { app, ofAda, happened, enable } = await setUp();
    const outcomes = await Promise.all(Array.from({ length: 10 }, enable));
    expect(outcomes.filter((changed) => changed)).toHaveLength(1);
    expect((await happened()).filter((what) => what === 'enabled')).toHaveLength(1);
    const before = await ofAda();
    app.clock.advance(MINUTE);
    expect(await enable()).toBe(false);
    expect(await ofAda()).toEqual(before);
  });
});

describe('makeResetLink', () => {
  const NEW_PASSWORD = 'staple battery';

  const setUp = async () => {
    const ada = await registeredAda();
    const { app, user } = ada;
    const make = () => makeResetLink(app)(user, ORIGIN);
    return { ...ada, make, reset: (token: string) => app.resetPassword({ token, newPassword: NEW_PASSWORD }) };
  };

  it('makes a link that sets a new password, until it expires', async () => {
    const { app, logIn, make, reset } = await setUp();
    const expired = await make();
    expect(expired.expiresAt).toBe(app.clock.now() + 30 * MINUTE);
    app.clock.set(expired.expiresAt);
    await expect(reset(expired.token)).rejects.toMatchObject(INVALID_LINK);
    const { token, expiresAt } = await make();
    app.clock.set(expiresAt - 1);
    await reset(token);
    expect(await logIn(NEW_PASSWORD)).toHaveProperty('accessToken');
  });

  it('records it, keeps the password and the sessions, sends nothing, and stores the token nowhere', async () => {
    const { app, session, ofAda, happened, pending, logIn, make } = await setUp();
    const { token } = await make();
    const stored = await ofAda();
    expect(stored.links).toMatchObject([{ email: EMAIL, tokenHash: app.secrets.hashOf(token) }]);
    expect(JSON.stringify(stored)).not.toContain(token);
    expect(await happened()).toEqual(['password-link-handed-over', 'registered']);
    expect(stored.events[0]).toMatchObject(ORIGIN);
    expect(await pending()).toEqual([]);
    expect(await app.refresh([session.refreshToken])).toHaveProperty('accessToken');
    expect(await logIn()).toHaveProperty('accessToken');
  });

  it('replaces a link that was made before, and is replaced by none that is asked for', async () => {
    const { app, make, reset } = await setUp();
    const former = await make();
    const { token } = await make();
    await expect(reset(former.token)).rejects.toMatchObject(INVALID_LINK);
    await app.requestPasswordReset(EMAIL);
    const [mail = expect.unreachable()] = await app.sendAll();
    await reset(token);
    // It proves nothing, since nobody knows who has it.
    expect(await app.users.findByEmail(EMAIL)).toMatchObject({ emailVerifiedAt: null });
    await expect(reset(tokenIn(mail, 'password-reset'))).rejects.toMatchObject(INVALID_LINK);
  });

  it('may be mailed, and then proves the address', async () => {
    const { app, user, happened, reset } = await setUp();
    await mailResetLink(app)(user, ORIGIN);
    expect(await happened()).toEqual(['password-reset-requested', 'registered']);
    const [mail = expect.unreachable()] = await app.sendAll();
    expect(mail.to).toBe(EMAIL);
    await reset(tokenIn(mail, 'password-reset'));
    expect(await app.users.findByEmail(EMAIL)).toMatchObject({ emailVerifiedAt: app.clock.now() });
  });
});
