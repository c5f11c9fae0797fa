import { describe, expect, it } from 'vitest';
import { disableAccount, enableAccount } from '../../../src/application/accounts/operate-accounts.ts';
import { NO_RECORD, ORIGIN, registeredAda } from '../../support/account.ts';
import { MINUTE } from '../../support/application.ts';
import { expectAllOrNothing } from '../../support/units.ts';

/** Ada, whose account was disabled a minute ago. */
const setUp = async () => {
  const ada = await registeredAda();
  const { app, user } = ada;
  const enable = () => enableAccount(app)(user.id, ORIGIN);
  await disableAccount(app)(user.id, ORIGIN);
  app.clock.advance(MINUTE);
  return { ...ada, enable };
};

describe('enableAccount', () => {
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

  it('brings no session back', async () => {
    const { app, session, ofAda, enable } = await setUp();
    await enable();
    expect((await ofAda()).sessions).toEqual([]);
    await expect(app.refresh([session.refreshToken])).rejects.toMatchObject({ code: 'AUTH_FAILED' });
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

  it('does not know an unknown user', async () => {
    const { app } = await setUp();
    await expect(enableAccount(app)('nobody', ORIGIN)).rejects.toMatchObject(NO_RECORD);
  });

  it('changes all or nothing', async () => {
    const { app, ofAda, enable } = await setUp();
    await expectAllOrNothing(app, ofAda, enable);
  });
});
