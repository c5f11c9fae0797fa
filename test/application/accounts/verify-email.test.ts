// Proves ASVS 6.4.1; member-4

import { describe, expect, it } from 'vitest';
import {
  confirmEmail,
  removeUnverifiedAccount,
  requestEmailVerification,
} from '../../../src/application/accounts/mail-links.ts';
import { claimMessages } from '../../../src/application/storage/outbox.ts';
import { NO_ORIGIN } from '../../../src/domain/event.ts';
import { BOB, EMAIL, INVALID_LINK, NO_DATA, ORIGIN, registeredAda } from '../../support/account.ts';
import { ADA, DAY, MINUTE, rejections } from '../../support/application.ts';
import { tokenIn } from '../../support/mail/sender.ts';

describe('requestEmailVerification', () => {
  const setUp = async () => {
    const ada = await registeredAda();
    const { app } = ada;
    const waiting = () => claimMessages(app.records, { now: app.clock.now(), until: app.clock.now(), limit: 100 });
    return { ...ada, waiting, request: requestEmailVerification(app) };
  };

  it.each([
    ['has an account', EMAIL],
    ['has none', 'nobody@example.org'],
  ])('stores the same for an address that %s', async (_what, email) => {
    const { ofAda, waiting, request } = await setUp();
    const before = await ofAda();
    await request(email, ORIGIN);
    expect(await waiting()).toMatchObject([
      { kind: 'email-verification-request', userId: null, to: email, email: null, origin: ORIGIN },
    ]);
    expect(await ofAda()).toEqual(before);
  });

  it('keeps one request of an address, however it is spelled', async () => {
    const { waiting, request } = await setUp();
    await request(' Ada@Example.ORG ');
    await request(EMAIL);
    expect(await waiting()).toMatchObject([{ to: EMAIL }]);
  });

  it('has links sent to an address that is not verified, and to no other', async () => {
    const { app, user, happened, purposes, request } = await setUp();
    await request('nobody@example.org');
    await request(EMAIL);
    expect(await app.sendAll()).toMatchObject([{ to: EMAIL }]);
    expect(await purposes()).toEqual(['email-verification', 'not-me']);
    expect(await happened()).toEqual(['email-verification-requested', 'registered']);

    app.clock.advance(10 * MINUTE);
    await app.users.update(user.id, { emailVerifiedAt: app.clock.now(), now: app.clock.now() });
    await request(EMAIL);
    expect(await app.sendAll()).toEqual([]);
    expect(await happened()).toEqual(['email-verification-requested', 'registered']);
  });
});

describe('confirmEmail', () => {
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

  it('verifies the address, records it, and notifies nobody', async () => {
    const { app, ofAda, happened, pending, token, confirm } = await setUp();
    await confirm(token, ORIGIN);
    const { user, events, sessions } = await ofAda();
    expect(user).toMatchObject({ email: EMAIL, emailVerifiedAt: app.clock.now() });
    expect(events[0]).toMatchObject({ kind: 'email-verified', sessionId: null, at: app.clock.now(), ...ORIGIN });
    expect(await happened()).toEqual(['email-verified', 'registered']);
    expect(await pending()).toEqual([]);
    expect(sessions).toHaveLength(1);
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
    ['is not verified', {}],
    ['is verified', { emailVerifiedAt: 1 }],
  ])('refuses the link of a former address, when the new one %s', async (_what, verified) => {
    const { app, user, ofAda, token, confirm } = await setUp();
    await app.users.update(user.id, { email: 'new@example.org', ...verified, now: app.clock.now() });
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
});

describe('removeUnverifiedAccount', () => {
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

  it('removes the account with everything about it, and nobody else', async () => {
    const { app, about, ofAda, token, disown } = await setUp();
    const { user: bob } = await app.register(BOB);
    const before = await about(bob.id);
    await disown(token);
    expect(await ofAda()).toEqual(NO_DATA);
    expect(await about(bob.id)).toEqual(before);
    await app.register(ADA);
  });

  it.each([
    ['whose address was verified, in whatever way', { emailVerifiedAt: 1 }],
    ['that has another address since', { email: 'new@example.org' }],
    ['that is disabled, whose user must not be able to delete its events', { disabledAt: 7 }],
  ])('never removes an account %s', async (_what, changed) => {
    const { app, user, ofAda, token, disown } = await setUp();
    await app.users.update(user.id, { ...changed, now: app.clock.now() });
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
});
