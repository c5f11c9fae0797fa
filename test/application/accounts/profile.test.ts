// Proves ASVS 6.3.7
import { describe, expect, it } from 'vitest';
import { changeUsername } from '../../../src/application/accounts/profile.ts';
import { BOB, DUPLICATE, EMAIL, ORIGIN, registeredAda, WRONG_PASSWORD } from '../../support/account.ts';
import { ADA, MINUTE } from '../../support/application.ts';

const setUp = async () => {
  const ada = await registeredAda();
  ada.app.clock.advance(MINUTE);
  const useCase = changeUsername(ada.app);
  const caller = { userId: ada.user.id, sessionId: ada.session.sessionId };
  return { ...ada, change: (username: string) => useCase(caller, username, ORIGIN) };
};

describe('changeUsername', () => {
  it('returns the user as stored now, and records the change', async () => {
    const { app, user, ofAda, happened, change } = await setUp();
    const changed = { ...user, username: 'Countess', updatedAt: app.clock.now() };
    expect(await change('Countess')).toStrictEqual(changed);
    const { user: stored, events } = await ofAda();
    expect(stored).toMatchObject(changed);
    expect(await happened()).toEqual(['username-changed', 'registered']);
    expect(events[0]).toMatchObject(ORIGIN);
  });

  it('ends no session, notifies the user, and frees the former username at once', async () => {
    const { app, session, logIn, pending, change } = await setUp();
    await change('Countess');
    expect(await app.refresh([session.refreshToken])).toHaveProperty('accessToken');
    expect(await pending()).toEqual([`username-changed to ${EMAIL}`]);
    await expect(logIn()).rejects.toMatchObject(WRONG_PASSWORD);
    expect(await app.login({ account: 'countess', password: ADA.password })).toHaveProperty('accessToken');
    await app.register({ ...BOB, username: ADA.username });
  });

  it('changes the letter case, and nothing when the username is the same', async () => {
    const { app, happened, change } = await setUp();
    expect(await change('ADA')).toMatchObject({ username: 'ADA', updatedAt: app.clock.now() });
    const changedAt = app.clock.now();
    app.clock.advance(MINUTE);
    expect(await change('ADA')).toMatchObject({ username: 'ADA', updatedAt: changedAt });
    expect(await happened()).toEqual(['username-changed', 'registered']);
  });

  it('refuses a username that another user has, in any letter case', async () => {
    const { app, ofAda, change } = await setUp();
    await app.register(BOB);
    const before = await ofAda();
    for (const username of ['Bob', 'bOB']) await expect(change(username)).rejects.toMatchObject(DUPLICATE);
    expect(await ofAda()).toEqual(before);
  });
});
