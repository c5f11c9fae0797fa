import { describe, expect, it } from 'vitest';
import { confirmEmailChange } from '../../../src/application/accounts/change-email.ts';
import { createAccount, resendVerification, setEmail } from '../../../src/application/accounts/operate-accounts.ts';
import { eventsOf } from '../../../src/application/storage/events.ts';
import { BOB, DUPLICATE, EMAIL, NO_RECORD, ORIGIN, registeredAda } from '../../support/account.ts';
import { ADA } from '../../support/application.ts';
import { tokenIn } from '../../support/mail/sender.ts';

const OPERATOR = { ...ORIGIN, actor: 'Una' };
const NEW = 'ada@lovelace.example';
const BODY = { username: null, attributes: {}, locale: null, isProven: false, sendsLink: true };

describe('createAccount', () => {
  it('stores an account that nobody can log in to before its owner has set a password by mail', async () => {
    const { app } = await registeredAda();
    const given = { ...BODY, email: BOB.email.toUpperCase(), attributes: { team: 'x' }, locale: 'de' };
    const user = await createAccount(app)(given, OPERATOR);
    expect(user).toMatchObject({ username: 'bob', email: BOB.email, emailVerifiedAt: null, locale: 'de' });
    for (const password of ['', '$unknown$', '$none$'])
      await expect(app.login({ account: 'bob', password })).rejects.toMatchObject({ code: 'AUTH_CREDENTIALS_INVALID' });
    const [mail = expect.unreachable()] = await app.sendAll();
    expect(mail.to).toBe(BOB.email);
    await app.resetPassword({ token: tokenIn(mail, 'password-reset'), newPassword: BOB.password });
    expect(await app.login({ account: 'bob', password: BOB.password })).toHaveProperty('accessToken');
    const events = await eventsOf(app.records, { userId: user.id, before: null, limit: 9 });
    expect(events.at(-1)).toMatchObject({ kind: 'registered', actor: 'Una' });
  });

  it('may take the address for proven, and send nothing', async () => {
    const { app } = await registeredAda();
    const given = { ...BODY, email: BOB.email, username: 'Bobby', isProven: true, sendsLink: false };
    const user = await createAccount(app)(given, OPERATOR);
    expect(user).toMatchObject({ username: 'Bobby', emailVerifiedAt: app.clock.now() });
    expect(await app.sendAll()).toEqual([]);
  });

  it.each([
    ['address', { email: EMAIL }],
    ['username', { email: BOB.email, username: 'ADA' }],
  ])('refuses a taken %s', async (_what, taken) => {
    const { app, ofAda } = await registeredAda();
    const before = await ofAda();
    await expect(createAccount(app)({ ...BODY, ...taken }, OPERATOR)).rejects.toMatchObject(DUPLICATE);
    expect(await ofAda()).toEqual(before);
  });
});

describe('setEmail', () => {
  const setUp = async (wasProven: boolean) => {
    const ada = await registeredAda();
    const { app, user } = ada;
    if (wasProven) await app.users.update(user.id, { emailVerifiedAt: 1, now: app.clock.now() });
    const set = (given: object = {}) => setEmail(app)(user.id, { email: NEW, isProven: true, ...given }, OPERATOR);
    return { ...ada, set };
  };

  it.each([true, false])(
    'lets an address wait that the operator does not know to be the user’s, also if the former one is proven: %s',
    async (wasProven) => {
      const { app, ofAda, pending, happened, set } = await setUp(wasProven);
      const before = (await ofAda()).user;
      expect(await set({ email: ` ${NEW.toUpperCase()}`, isProven: false })).toBe(false);
      expect((await ofAda()).user).toEqual(before);
      expect(await pending()).toEqual([`email-change to ${NEW}`]);
      expect(await happened()).toEqual(['email-change-requested', 'registered']);
      // Its mail has a link that needs the password or a session, and none that removes anything.
      const [mail = expect.unreachable()] = await app.sendAll();
      expect([mail.to, mail.text.match(/#token=/g)]).toEqual([NEW, ['#token=']]);
      await confirmEmailChange(app)({ token: tokenIn(mail, 'email-change'), password: ADA.password });
      expect((await ofAda()).user).toMatchObject({ email: NEW, emailVerifiedAt: app.clock.now() });
    },
  );

  it('tells a proven former address, which can take the account back', async () => {
    const { app, ofAda, pending, happened, purposes, set } = await setUp(true);
    expect(await set()).toBe(true);
    expect(await ofAda()).toMatchObject({ user: { email: NEW, emailVerifiedAt: app.clock.now() }, sessions: [{}] });
    expect(await pending()).toEqual([`email-changed to ${EMAIL}`]);
    expect(await happened()).toEqual(['email-changed', 'registered']);
    expect((await ofAda()).events[0]).toMatchObject({ actor: 'Una' });
    await app.sendAll();
    expect(await purposes()).toEqual(['email-change-undo']);
    expect(await set()).toBe(false);
  });

  it('tells an address nothing that nobody has proven, and takes its links back: it may be a stranger’s', async () => {
    const { pending, purposes, linkIn, set } = await setUp(false);
    await linkIn({ kind: 'passkey-added', to: EMAIL }, 'factors-undo');
    await set();
    expect([await pending(), await purposes()]).toEqual([[], []]);
  });

  it.each([NEW, EMAIL])(
    'returns the account to its owner, who gets a link for a new password: to %s',
    async (email) => {
      const { app, ofAda, purposes, set } = await setUp(true);
      expect(await set({ email, isProven: false, isReturned: true })).toBe(true);
      expect(await ofAda()).toMatchObject({ user: { email }, sessions: [] });
      expect((await app.sendAll()).map(({ to }) => to)).toEqual([email]);
      expect(await purposes()).toEqual(['password-reset']);
    },
  );

  it.each([
    ['ends what was opened', false, { sessions: [], user: { emailVerifiedAt: expect.any(Number) } }],
    ['keeps what was opened, if the former one was proven', true, { sessions: [{}] }],
  ])('takes the new address for proven, and %s', async (_what, wasProven, expected) => {
    const { ofAda, logIn, set } = await setUp(wasProven);
    await set();
    expect(await ofAda()).toMatchObject(expected);
    expect(await logIn()).toHaveProperty('accessToken');
  });

  it('refuses an address that another user has, and an unknown user, but none that is reserved', async () => {
    const { app, ofAda, set } = await setUp(true);
    const { user: bob } = await app.register(BOB);
    const before = await ofAda();
    await expect(set({ email: BOB.email })).rejects.toMatchObject(DUPLICATE);
    expect(await ofAda()).toEqual(before);
    await app.users.update(bob.id, { emailVerifiedAt: 1, now: app.clock.now() });
    await setEmail(app)(bob.id, { email: 'bob@new.example', isProven: true }, OPERATOR);
    expect(await set({ email: BOB.email })).toBe(true);
    await expect(setEmail(app)('nobody', { email: NEW, isProven: true }, OPERATOR)).rejects.toMatchObject(NO_RECORD);
  });
});

describe('an address that is not proven', () => {
  it('gets the link again', async () => {
    const { app, user, pending, happened } = await registeredAda();
    const resend = (id = user.id) => resendVerification(app)(id, OPERATOR);
    expect(await resend()).toBe(true);
    expect(await pending()).toEqual([`email-verification to ${EMAIL}`]);
    expect(await happened()).toEqual(['email-verification-requested', 'registered']);
    await app.users.update(user.id, { emailVerifiedAt: 1, now: app.clock.now() });
    expect(await resend()).toBe(false);
    await expect(resend('nobody')).rejects.toMatchObject(NO_RECORD);
  });

  it('is proven by an operator once: the password stays, and what was opened ends', async () => {
    const { app, user, ofAda, happened } = await registeredAda();
    const prove = (id = user.id) => setEmail(app)(id, { email: null, isProven: true }, OPERATOR);
    expect(await prove()).toBe(true);
    expect(await ofAda()).toMatchObject({ user: { emailVerifiedAt: app.clock.now() }, sessions: [] });
    expect(await happened()).toEqual(['session-ended: address-proven', 'email-verified', 'registered']);
    expect(await app.login({ account: 'ada', password: ADA.password })).toHaveProperty('accessToken');
    expect(await prove()).toBe(false);
    await expect(prove('nobody')).rejects.toMatchObject(NO_RECORD);
  });
});
