import { describe, expect, it } from 'vitest';
import { makeResetLink } from '../../../src/application/accounts/operate-accounts.ts';
import { EMAIL, INVALID_LINK, ORIGIN, registeredAda } from '../../support/account.ts';
import { MINUTE } from '../../support/application.ts';
import { expectAllOrNothing } from '../../support/units.ts';

const NEW_PASSWORD = 'staple battery';

const setUp = async () => {
  const ada = await registeredAda();
  const { app, user } = ada;
  const make = () => makeResetLink(app)(user, ORIGIN);
  return { ...ada, make, reset: (token: string) => app.resetPassword({ token, newPassword: NEW_PASSWORD }) };
};

describe('makeResetLink', () => {
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

  it('records it, keeps the password and the sessions, and sends nothing', async () => {
    const { app, session, ofAda, happened, pending, logIn, make } = await setUp();
    await make();
    expect(await happened()).toEqual(['password-reset-requested', 'registered']);
    expect((await ofAda()).events[0]).toMatchObject(ORIGIN);
    expect(await pending()).toEqual([]);
    expect(await app.refresh([session.refreshToken])).toHaveProperty('accessToken');
    expect(await logIn()).toHaveProperty('accessToken');
  });

  it('stores the token nowhere', async () => {
    const { app, ofAda, make } = await setUp();
    const { token } = await make();
    const stored = await ofAda();
    expect(stored.links).toMatchObject([{ email: EMAIL, tokenHash: app.secrets.hashOf(token) }]);
    expect(JSON.stringify(stored)).not.toContain(token);
  });

  it('replaces a link that was sent before, or made before', async () => {
    const { linkIn, make, reset } = await setUp();
    const sent = await linkIn({ kind: 'password-reset', to: EMAIL }, 'password-reset');
    const former = await make();
    const { token } = await make();
    for (const replaced of [sent, former.token]) await expect(reset(replaced)).rejects.toMatchObject(INVALID_LINK);
    await reset(token);
  });

  it('is not replaced for five minutes by somebody who asks for a link', async () => {
    const { app, make, reset } = await setUp();
    const { token } = await make();
    app.clock.advance(5 * MINUTE);
    await app.requestPasswordReset(EMAIL);
    expect(await app.sendAll()).toEqual([]);
    await reset(token);
  });

  it('makes a link that is of no use while the account is disabled', async () => {
    const { setDisabled, make, reset } = await setUp();
    await setDisabled(1);
    const { token } = await make();
    await expect(reset(token)).rejects.toMatchObject(INVALID_LINK);
    await setDisabled(null);
    await reset(token);
  });

  it('changes all or nothing', async () => {
    const { app, ofAda, make } = await setUp();
    await expectAllOrNothing(app, ofAda, make);
  });
});
