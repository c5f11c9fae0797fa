import { describe, expect, it } from 'vitest';
import { confirmEmail } from '../../../src/application/accounts/verify-email.ts';
import { NO_ORIGIN } from '../../../src/domain/event.ts';
import { EMAIL, INVALID_LINK, ORIGIN, registeredAda } from '../../support/account.ts';
import { DAY, MINUTE } from '../../support/application.ts';
import { expectAllOrNothing } from '../../support/units.ts';

const MESSAGE = { kind: 'email-verification', to: EMAIL } as const;

/** Ada, who has got the mail with the two links. */
const setUp = async () => {
  const ada = await registeredAda();
  const token = await ada.linkIn(MESSAGE, 'email-verification');
  ada.app.clock.advance(MINUTE);
  const { refreshToken } = ada.session;
  /** In the browser in which Ada has registered. */
  const confirm = (link: string, origin = NO_ORIGIN) =>
    confirmEmail(ada.app)({ token: link, refreshTokens: [refreshToken], origin });
  return { ...ada, token, confirm };
};

describe('confirmEmail', () => {
  it('verifies the address, records it, and notifies nobody', async () => {
    const { app, ofAda, happened, pending, token, confirm } = await setUp();
    await confirm(token, ORIGIN);
    const { user, events, sessions } = await ofAda();
    expect(user).toMatchObject({ email: EMAIL, emailVerifiedAt: app.clock.now() });
    expect(events[0]).toMatchObject({ kind: 'email-verified', at: app.clock.now(), ...ORIGIN });
    expect(await happened()).toEqual(['email-verified', 'registered']);
    expect(await pending()).toEqual([]);
    expect(sessions).toHaveLength(1);
  });

  it('uses its link up, and ends the one that removes the account', async () => {
    const { app, purposes, ofAda, token, confirm } = await setUp();
    expect(await purposes()).toEqual(['email-verification', 'not-me']);
    await confirm(token);
    const after = await ofAda();
    expect(await purposes()).toEqual([]);
    app.clock.advance(MINUTE);
    await expect(confirm(token)).rejects.toMatchObject(INVALID_LINK);
    expect(await ofAda()).toEqual(after);
  });

  it('leaves other links as they are', async () => {
    const { purposes, linkIn, token, confirm } = await setUp();
    await linkIn({ kind: 'password-reset', to: EMAIL }, 'password-reset');
    await confirm(token);
    expect(await purposes()).toEqual(['password-reset']);
  });

  it('accepts the link of an address that was verified in another way, whose time it keeps', async () => {
    const { app, user, ofAda, happened, purposes, token, confirm } = await setUp();
    const emailVerifiedAt = app.clock.now();
    await app.users.update(user.id, { emailVerifiedAt, now: emailVerifiedAt });
    app.clock.advance(MINUTE);
    await confirm(token);
    expect((await ofAda()).user).toMatchObject({ emailVerifiedAt });
    expect(await happened()).toEqual(['registered']);
    expect(await purposes()).toEqual([]);
  });

  it.each([
    ['is not verified', null],
    ['is verified', 1],
  ])('refuses the link of a former address, when the new one %s', async (_what, emailVerifiedAt) => {
    const { app, user, ofAda, token, confirm } = await setUp();
    await app.users.update(user.id, { email: 'new@example.org', emailVerifiedAt, now: app.clock.now() });
    const before = await ofAda();
    await expect(confirm(token)).rejects.toMatchObject(INVALID_LINK);
    expect(await ofAda()).toEqual(before);
  });

  it('refuses a link that has expired, was replaced, never existed, or is for something else', async () => {
    const { app, ofAda, linkIn, token: replaced, confirm } = await setUp();
    const disowning = await linkIn(MESSAGE, 'not-me');
    const expired = await linkIn(MESSAGE, 'email-verification');
    for (const token of [replaced, disowning, app.secrets.random(), '', '\0']) {
      await expect(confirm(token)).rejects.toMatchObject(INVALID_LINK);
    }
    app.clock.advance(DAY);
    await expect(confirm(expired)).rejects.toMatchObject(INVALID_LINK);
    expect((await ofAda()).user).toMatchObject({ emailVerifiedAt: null });
  });

  it('changes all or nothing', async () => {
    const { app, ofAda, token, confirm } = await setUp();
    await expectAllOrNothing(app, ofAda, () => confirm(token));
  });
});
