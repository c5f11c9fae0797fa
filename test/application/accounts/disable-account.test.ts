import { describe, expect, it } from 'vitest';
import { disableAccount, enableAccount } from '../../../src/application/accounts/operate-accounts.ts';
import { COUNTING_PERIOD, NO_ORIGIN } from '../../../src/domain/event.ts';
import { ADA, application } from '../../support/application.ts';

const LOGIN = { account: 'ada', password: ADA.password };
const BY_OPERATOR = NO_ORIGIN;

const registered = async (given: Parameters<typeof application>[0] = {}) => {
  const app = application(given);
  const opened = await app.register(ADA);
  const kinds = async () =>
    (await app.events.list({ userId: opened.user.id, before: null, limit: 20 })).map(
      ({ kind, reason }) => reason ?? kind,
    );
  return { ...app, ...opened, kinds, disable: () => disableAccount(app)(opened.user.id, BY_OPERATOR) };
};

describe('disabling an account', () => {
  it('ends its sessions and refuses log-ins and refreshes, until it is enabled', async () => {
    const { disable, login, refresh, refreshToken, kinds, user, ...app } = await registered();
    await login(LOGIN);
    expect(await disable()).toStrictEqual({ changed: true, endedSessions: 2 });
    await expect(login(LOGIN)).rejects.toMatchObject({ code: 'AUTH_ACCOUNT_DISABLED' });
    await expect(refresh([refreshToken])).rejects.toMatchObject({ code: 'AUTH_FAILED' });
    expect(await disable()).toStrictEqual({ changed: false, endedSessions: 0 });

    expect(await enableAccount(app)(user.id, BY_OPERATOR)).toBe(true);
    expect(await enableAccount(app)(user.id, BY_OPERATOR)).toBe(false);
    app.clock.advance(COUNTING_PERIOD);
    await login(LOGIN);
    const before = ['operator', 'operator', 'disabled', 'logged-in', 'registered'];
    expect(await kinds()).toStrictEqual(['logged-in', 'enabled', ...before]);
  });

  it('refuses a log-in that had compared the password before', async () => {
    const app = await registered();
    const { run } = app.transactions;
    const ended: unknown[] = [];
    // The account is disabled after the log-in has read it, and before its session is stored.
    app.transactions.run = async (work) => {
      app.transactions.run = run;
      await app.users.update(app.user.id, { disabledAt: app.clock.now(), now: app.clock.now() });
      ended.push(...(await app.sessions.endByUser(app.user.id, null)));
      return run(work);
    };
    await expect(app.login(LOGIN)).rejects.toMatchObject({ code: 'AUTH_ACCOUNT_DISABLED' });
    expect(ended).toHaveLength(1);
    expect(await app.sessions.listByUser(app.user.id, app.clock.now())).toStrictEqual([]);
  });

  it('ends the session of a refresh that reads the account when it is disabled', async () => {
    const app = await registered();
    await app.users.update(app.user.id, { disabledAt: app.clock.now(), now: app.clock.now() });
    await expect(app.refresh([app.refreshToken])).rejects.toMatchObject({ code: 'AUTH_FAILED' });
    expect(await app.sessions.listByUser(app.user.id, app.clock.now())).toStrictEqual([]);
  });

  it('changes nothing when the sessions cannot be ended', async () => {
    const app = await registered();
    const { run } = app.transactions;
    const endByUser = () => Promise.reject(new Error('down'));
    app.transactions.run = (work) => run((stores) => work({ ...stores, sessions: { ...stores.sessions, endByUser } }));
    await expect(app.disable()).rejects.toThrow('down');
    expect(await app.users.findById(app.user.id)).toMatchObject({ disabledAt: null });
    expect(await app.kinds()).toStrictEqual(['registered']);
  });

  it('does not know an unknown user', async () => {
    const app = application();
    const unknown = { code: 'DB_RECORD_NOT_FOUND' };
    await expect(disableAccount(app)('nobody', BY_OPERATOR)).rejects.toMatchObject(unknown);
    await expect(enableAccount(app)('nobody', BY_OPERATOR)).rejects.toMatchObject(unknown);
  });
});
