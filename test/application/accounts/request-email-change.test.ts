// Proves ASVS 6.3.1; network-8, script-2, mail-6
import { describe, expect, it } from 'vitest';
import { requestEmailChange } from '../../../src/application/accounts/change-email.ts';
import { BOB, ORIGIN, registeredAda } from '../../support/account.ts';
import { ADA, MINUTE } from '../../support/application.ts';

const NEW_EMAIL = 'ada@new.example.org';

const setUp = async () => {
  const ada = await registeredAda();
  const { app, user, session } = ada;
  app.clock.advance(MINUTE);
  const input = (given: { readonly email?: string; readonly password?: string; readonly userId?: string }) => ({
    userId: user.id,
    sessionId: session.sessionId,
    tokenIssuedAt: app.clock.now() / 1000,
    password: ADA.password,
    email: NEW_EMAIL,
    origin: ORIGIN,
    ...given,
  });
  const useCase = requestEmailChange(app);
  const request = (given: Parameters<typeof input>[0] = {}, signal?: AbortSignal) => useCase(input(given), signal);
  return { ...ada, request };
};

describe('requestEmailChange', () => {
  it('has a link sent to the new address, and changes nothing about the user yet', async () => {
    const { app, session, ofAda, pending, request } = await setUp();
    const { user: before } = await ofAda();
    await request({ email: ' Ada@NEW.example.org ' });
    const { user, events, sessions } = await ofAda();
    expect(user).toEqual(before);
    expect(sessions).toHaveLength(1);
    expect(await pending()).toEqual([`email-change to ${NEW_EMAIL}`]);
    expect(events[0]).toMatchObject({ kind: 'email-change-requested', sessionId: session.sessionId, ...ORIGIN });
    expect(await app.sendAll()).toMatchObject([{ to: NEW_EMAIL }]);
  });

  it('does the same for an address that has an account', async () => {
    const { app, pending, happened, request } = await setUp();
    await app.register(BOB);
    await request({ email: BOB.email });
    expect(await pending()).toEqual([`email-change to ${BOB.email}`]);
    expect(await happened()).toEqual(['email-change-requested', 'registered']);
  });

  it('does nothing for the address that the user has, in any letter case', async () => {
    const { ofAda, request } = await setUp();
    const before = await ofAda();
    await request({ email: ADA.email.toUpperCase() });
    expect(await ofAda()).toEqual(before);
  });

  it('has five links sent in an hour, and does not say so', async () => {
    const { app, pending, happened, request } = await setUp();
    for (let asked = 0; asked < 7; asked += 1) await request({ email: `ada@${asked}.example.org` });
    expect(await pending()).toEqual([0, 1, 2, 3, 4].map((number) => `email-change to ada@${number}.example.org`));
    expect(await happened()).toHaveLength(6);
    app.clock.advance(60 * MINUTE);
    await request();
    expect(await pending()).toHaveLength(5);
    app.clock.advance(1);
    await request();
    expect(await pending()).toHaveLength(6);
  });

  it('leaves nothing to open when the password is changed afterwards', async () => {
    const { app, user, session, pending, purposes, request } = await setUp();
    await request();
    await app.sendAll();
    await request();
    expect([await purposes(), await pending()]).toEqual([['email-change'], [`email-change to ${NEW_EMAIL}`]]);
    const passwords = { currentPassword: ADA.password, newPassword: 'staple battery' };
    await app.changePassword({ userId: user.id, sessionId: session.sessionId, tokenIssuedAt: 0, ...passwords });
    expect([await purposes(), await pending()]).toEqual([[], []]);
  });
});
