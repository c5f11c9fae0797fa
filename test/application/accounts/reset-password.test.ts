// Proves ASVS 6.2.4, 6.4.3; theft-7, guess-2, mail-7

import { describe, expect, it } from 'vitest';
import { eventsOf } from '../../../src/application/storage/events.ts';
import { messagesOf } from '../../../src/application/storage/outbox.ts';
import { BOB } from '../../support/account.ts';
import { ADA, DAY, MINUTE, rejections, SECOND } from '../../support/application.ts';
import { aFactor, anIdentity, aPasskey } from '../../support/builders.ts';
import { notingPasswordHasher, plainPasswordHasher } from '../../support/fakes.ts';
import { applicationWithMail, tokenIn } from '../../support/mail/sender.ts';

const EMAIL = 'ada@example.org';
const NEW_PASSWORD = 'staple battery';
const INVALID = { code: 'AUTH_LINK_INVALID', status: 400 };

/** Ada, logged in, who has asked for a link. */
const setUp = async (given: Parameters<typeof applicationWithMail>[0] = {}) => {
  const app = applicationWithMail(given);
  const { user, ...held } = await app.register(ADA);
  const ask = async (): Promise<string> => {
    await app.requestPasswordReset(EMAIL);
    const mails = await app.sendAll();
    return tokenIn(mails.find(({ subject }) => subject.startsWith('Reset')) ?? { text: 'nothing' }, 'password-reset');
  };
  const reset = (token: string, newPassword = NEW_PASSWORD) => app.resetPassword({ token, newPassword });
  const logIn = (password: string, account = 'Ada') => app.login({ account, password });
  const kindsOfEvents = async () =>
    (await eventsOf(app.records, { userId: user.id, before: null, limit: 100 })).map(
      ({ kind, reason }) => reason ?? kind,
    );
  return { app, user, held, ask, reset, logIn, kindsOfEvents };
};

describe('resetPassword', () => {
  it('returns nothing, and says why sessions have ended', async () => {
    const { app, user, ask, reset, logIn, kindsOfEvents } = await setUp();
    app.clock.advance(MINUTE);
    await app.users.update(user.id, { emailVerifiedAt: 1, now: app.clock.now() });
    await logIn(ADA.password);
    expect(await reset(await ask())).toBeUndefined();
    expect(await app.users.findById(user.id)).toMatchObject({ passwordChangedAt: app.clock.now() });
    expect((await kindsOfEvents()).slice(0, 4)).toEqual([
      ...Array(3).fill('password-reset'),
      'password-reset-requested',
    ]);
  });

  it('verifies the address', async () => {
    const { app, user, ask, reset } = await setUp();
    expect(await app.users.findById(user.id)).toMatchObject({ emailVerifiedAt: null });
    await reset(await ask());
    const provedAt = app.clock.now();
    expect(await app.users.findById(user.id)).toMatchObject({ emailVerifiedAt: provedAt });
    app.clock.advance(DAY);
    await reset(await ask(), 'another staple battery');
    expect(await app.users.findById(user.id)).toMatchObject({ emailVerifiedAt: provedAt });
  });

  it('notifies the owner, unless notices about passwords are off', async () => {
    const { app, ask, reset } = await setUp();
    await reset(await ask());
    expect(await app.sendAll()).toEqual([
      expect.objectContaining({ to: EMAIL, subject: expect.stringContaining('was reset') }),
    ]);
    const quiet = await setUp({ mailNotices: new Set() });
    await quiet.reset(await quiet.ask());
    expect(await quiet.app.sendAll()).toEqual([]);
  });

  it('refuses a link that has expired, was replaced, or never existed', async () => {
    const { app, ask, reset, logIn } = await setUp();
    const expired = await ask();
    app.clock.advance(30 * MINUTE);
    await expect(reset(expired)).rejects.toMatchObject(INVALID);
    const replaced = await ask();
    app.clock.advance(5 * MINUTE + 1);
    await ask();
    await expect(reset(replaced)).rejects.toMatchObject(INVALID);
    for (const token of [app.secrets.random(), 'x', '\0']) await expect(reset(token)).rejects.toMatchObject(INVALID);
    expect(await logIn(ADA.password)).toHaveProperty('accessToken');
  });

  it('happens once with a link, also when two use it at the same time', async () => {
    const { ask, reset } = await setUp();
    const token = await ask();
    const outcomes = await Promise.allSettled([reset(token), reset(token, 'another staple battery')]);
    expect(outcomes).toMatchObject([{ status: 'fulfilled' }, { status: 'rejected', reason: INVALID }]);
  });

  it('refuses a password that is easy to guess, and keeps the link', async () => {
    const { ask, reset } = await setUp({ isCommonPassword: (password) => password === 'password1' });
    const token = await ask();
    for (const refused of ['password1', 'Ada@Example.org']) {
      await expect(reset(token, refused)).rejects.toMatchObject({
        code: 'CLIENT_PARAMS_VALIDATION_FAILED',
        details: [{ field: 'newPassword', code: 'too_common' }],
      });
    }
    await reset(token);
  });

  it('hashes no password without a live link', async () => {
    const { hashed, hasher } = notingPasswordHasher(plainPasswordHasher());
    const { reset } = await setUp({ hasher });
    await expect(reset('unknown')).rejects.toMatchObject(INVALID);
    expect(hashed).toEqual([]);
  });

  it.each([
    ['disabled', { disabledAt: 1 }],
    ['given another address', { email: 'new@example.org' }],
  ])('changes nothing when the account is %s while the password is hashed', async (_what, change) => {
    const { app, user, ask, logIn } = await setUp();
    const changing = applicationWithMail().hasher;
    const { resetPassword } = await import('../../../src/application/accounts/mail-links.ts');
    const reset = resetPassword({
      ...app,
      hasher: {
        ...changing,
        hash: async (password) => {
          await app.users.update(user.id, { ...change, now: 1 });
          return changing.hash(password);
        },
      },
    });
    const token = await ask();
    await expect(reset({ token, newPassword: NEW_PASSWORD })).rejects.toMatchObject(INVALID);
    await app.users.update(user.id, { disabledAt: null, email: EMAIL, now: 2 });
    expect(await logIn(ADA.password)).toHaveProperty('accessToken');
    await app.resetPassword({ token, newPassword: NEW_PASSWORD });
  });

  it('takes back what somebody else may have asked for and waits to be sent', async () => {
    const { app, user, ask, reset } = await setUp();
    const token = await ask();
    await app.enqueue({ kind: 'email-change', userId: user.id, to: 'attacker@example.org' });
    await app.enqueue({ kind: 'password-changed', userId: user.id, to: EMAIL });
    await reset(token);
    expect((await messagesOf(app.records, user.id)).map(({ kind }) => kind)).toEqual([
      'password-changed',
      'password-was-reset',
    ]);
  });

  it('tells the user which factors are left when the mail is sent: those of an attacker would be', async () => {
    const { app, user, ask, reset } = await setUp();
    const { id: userId } = user;
    await app.users.update(userId, { emailVerifiedAt: 1, now: app.clock.now() });
    for (const confirmedAt of [1, 2, null]) await app.records.insert('factors', aFactor({ userId, confirmedAt }));
    for (const name of ['A phone', 'evil.example']) await app.records.insert('passkeys', aPasskey({ userId, name }));
    await app.records.insert('identities', anIdentity({ userId, provider: 'google', email: 'a@b.example' }));
    await reset(await ask());
    await app.records.insert('passkeys', aPasskey({ userId, name: 'Added since' }));
    const [mail] = await app.sendAll();
    for (const left of [
      ...['Passkeys: ', '"A phone"', '"evil[.]example"', '"Added since"', 'Authenticator apps: 2'],
      '"google a[@]b[.]example"',
    ])
      expect(mail?.text).toContain(left);
  });

  it('names no factors to a user who has none', async () => {
    const { app, ask, reset } = await setUp();
    await app.records.insert('factors', aFactor({ userId: (await app.register(BOB)).user.id, confirmedAt: 1 }));
    await reset(await ask());
    const [mail] = await app.sendAll();
    for (const none of ['Passkeys: —', 'Authenticator apps: 0', 'Sign-ins: —']) expect(mail?.text).toContain(none);
  });

  it('lets the owner log in at once, however many guesses were made before', async () => {
    const { app, ask, reset } = await setUp();
    const source = (address: string) => ({ networks: ['198.51/16', '198.51.100/24', address], refreshTokens: [] });
    for (const account of ['Ada', EMAIL]) {
      const guesses = Array.from({ length: 60 }, () =>
        app.login({ account, password: 'a guess', ...source('198.51.100.1') }),
      );
      await rejections(guesses);
    }
    const logIn = (password: string, account: string) => app.login({ account, password, ...source('198.51.100.2') });
    const token = await ask();
    app.clock.advance(SECOND);
    await reset(token);
    for (const account of ['Ada', EMAIL]) expect(await logIn(NEW_PASSWORD, account)).toHaveProperty('accessToken');
  });
});
