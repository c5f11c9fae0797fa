import { describe, expect, it } from 'vitest';
import { confirmEmail, removeUnverifiedAccount } from '../../../src/application/accounts/verify-email.ts';
import { audited, BOB, EMAIL, INVALID_LINK, inShort, NOTHING, ORIGIN, registeredAda } from '../../support/account.ts';
import { ADA, DAY, rejections } from '../../support/application.ts';
import { tokenIn } from '../../support/mail/sender.ts';
import { expectAllOrNothing } from '../../support/units.ts';

/** Ada, logged in twice, and the owner of the address, who has got the mail with the two links. */
const setUp = async () => {
  const ada = await registeredAda();
  const { app, user } = ada;
  await ada.logIn();
  await app.enqueue({ kind: 'email-verification', userId: user.id, to: EMAIL });
  const [mail = { text: 'nothing' }] = await app.sendAll();
  return {
    ...ada,
    token: tokenIn(mail, 'not-me'),
    verify: () => confirmEmail(app)({ token: tokenIn(mail, 'email-verification') }),
    disown: removeUnverifiedAccount(app),
  };
};

describe('removeUnverifiedAccount', () => {
  it('removes the account with everything about it, and nobody else', async () => {
    const { app, about, ofAda, token, disown } = await setUp();
    const { user: bob } = await app.register(BOB);
    const before = await about(bob.id);
    await disown(token);
    expect(await ofAda()).toEqual(NOTHING);
    expect(await about(bob.id)).toEqual(before);
    await app.register(ADA);
  });

  it('leaves to the audit log that the account was deleted, and which sessions ended', async () => {
    const { app, token } = await setUp();
    const { deps, audit } = audited(app);
    await removeUnverifiedAccount(deps)(token, ORIGIN);
    const ended = 'session-ended: account-deleted';
    expect(audit.map(inShort)).toEqual(['deleted', ended, ended]);
    expect(audit[0]).toMatchObject(ORIGIN);
  });

  it('never removes an account whose address was verified, in whatever way', async () => {
    const { app, user, ofAda, token, disown } = await setUp();
    await app.users.update(user.id, { emailVerifiedAt: app.clock.now(), now: app.clock.now() });
    const before = await ofAda();
    await expect(disown(token)).rejects.toMatchObject(INVALID_LINK);
    expect(await ofAda()).toEqual(before);
  });

  it('does not remove an account that has another address since', async () => {
    const { app, user, ofAda, token, disown } = await setUp();
    await app.users.update(user.id, { email: 'new@example.org', now: app.clock.now() });
    const before = await ofAda();
    await expect(disown(token)).rejects.toMatchObject(INVALID_LINK);
    expect(await ofAda()).toEqual(before);
  });

  it.each(['first', 'second'])('does not happen together with a proof, which comes %s', async (place) => {
    const { ofAda, token, verify, disown } = await setUp();
    const both = [verify, () => disown(token)];
    const refused = await rejections((place === 'first' ? both : both.toReversed()).map((act) => act()));
    expect(refused).toEqual([expect.objectContaining(INVALID_LINK)]);
    expect((await ofAda()).user === null).toBe(place === 'second');
  });

  it('refuses a link that was used, has expired, or is for something else', async () => {
    const { app, ofAda, linkIn, token: expired, disown } = await setUp();
    const verifying = await linkIn({ kind: 'password-reset', to: EMAIL }, 'password-reset');
    await expect(disown(verifying)).rejects.toMatchObject(INVALID_LINK);
    app.clock.advance(DAY);
    await expect(disown(expired)).rejects.toMatchObject(INVALID_LINK);
    const used = await linkIn({ kind: 'email-verification', to: EMAIL }, 'not-me');
    expect((await ofAda()).user).not.toBeNull();
    await disown(used);
    await expect(disown(used)).rejects.toMatchObject(INVALID_LINK);
  });

  it('changes all or nothing', async () => {
    const { app, ofAda, token, disown } = await setUp();
    await expectAllOrNothing(app, ofAda, () => disown(token));
  });
});
