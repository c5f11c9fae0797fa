import { describe, expect, it } from 'vitest';
import { endSessionsAsOperator } from '../../../src/application/accounts/operate-accounts.ts';
import { BOB, inShort, ORIGIN, registeredAda } from '../../support/account.ts';
import { expectAllOrNothing } from '../../support/units.ts';

/** Ada, logged in twice. */
const setUp = async () => {
  const ada = await registeredAda();
  await ada.logIn();
  return { ...ada, endAll: () => endSessionsAsOperator(ada.app)(ada.user.id, ORIGIN) };
};

describe('endSessionsAsOperator', () => {
  it('ends all sessions of the user, says how many, and records each', async () => {
    const { app, session, ofAda, endAll } = await setUp();
    const { sessions } = await ofAda();
    expect(await endAll()).toBe(2);
    const after = await ofAda();
    const endings = after.events.slice(0, 2);
    expect(after.sessions).toEqual([]);
    expect(endings.map(inShort)).toEqual(Array(2).fill('session-ended: operator'));
    expect(endings.map(({ sessionId }) => sessionId).sort()).toEqual(sessions.map(({ id }) => id).sort());
    for (const ending of endings) expect(ending).toMatchObject(ORIGIN);
    await expect(app.refresh([session.refreshToken])).rejects.toMatchObject({ code: 'AUTH_FAILED' });
  });

  it('changes nothing else: the user can log in again, and gets no notice', async () => {
    const { ofAda, pending, logIn, endAll } = await setUp();
    const { user } = await ofAda();
    await endAll();
    expect((await ofAda()).user).toEqual(user);
    expect(await pending()).toEqual([]);
    expect(await logIn()).toHaveProperty('accessToken');
  });

  it('ends none of another user', async () => {
    const { app, about, endAll } = await setUp();
    const { user: bob } = await app.register(BOB);
    const before = await about(bob.id);
    await endAll();
    expect(await about(bob.id)).toEqual(before);
  });

  it('records nothing when there is none', async () => {
    const { app, ofAda, endAll } = await setUp();
    await endAll();
    const before = await ofAda();
    expect(await endAll()).toBe(0);
    expect(await ofAda()).toEqual(before);
    expect(await endSessionsAsOperator(app)('nobody', ORIGIN)).toBe(0);
  });

  it('changes all or nothing', async () => {
    const { app, ofAda, endAll } = await setUp();
    await expectAllOrNothing(app, ofAda, endAll);
  });
});
