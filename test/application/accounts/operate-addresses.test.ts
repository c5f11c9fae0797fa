import { describe, expect, it } from 'vitest';
import {
  createAccount,
  proveAddressAsOperator,
  resendVerification,
  setEmail,
} from '../../../src/application/accounts/operate-addresses.ts';
import { BOB, DUPLICATE, EMAIL, NO_RECORD, ORIGIN, registeredAda } from '../../support/account.ts';
import { ADA } from '../../support/application.ts';
import { tokenIn } from '../../support/mail/sender.ts';
import { expectAllOrNothing } from '../../support/transactions.ts';

const OPERATOR = { ...ORIGIN, actor: 'Una' };
const NEW = 'ada@lovelace.example';
const BODY = { username: null, attributes: {}, locale: null, isProven: false, sendsLink: true };

describe('createAccount', () => {
  it('stores an account that nobody can log in to before its owner has set a password by mail', async () => {
    const { app } = await registeredAda();
    const given = { ...BODY, email: BOB.email.toUpperCase(), attributes: { team: 'x' }, locale: 'de' };
    const user = await createAccount(app)(given, OPERATOR);
    expect(user).toMatchObject({ username: 'bob', email: BOB.email, emailVerifiedAt: null, locale: 'de' });
    for (const password of ['', '$unknown$'])
      await expect(app.login({ account: 'bob', password })).rejects.toMatchObject({ code: 'AUTH_CREDENTIALS_INVALID' });
    const [mail = expect.unreachable()] = await app.sendAll();
    expect(mail.to).toBe(BOB.email);
    await app.resetPassword({ token: tokenIn(mail, 'password-reset'), newPassword: BOB.password });
    expect(await app.login({ account: 'bob', password: BOB.password })).toHaveProperty('accessToken');
    const events = await app.events.list({ userId: user.id, before: null, limit: 9 });
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
  const setUp = async (isProven: boolean) => {
    const ada = await registeredAda();
    const { app, user } = ada;
    if (isProven) await app.users.update(user.id, { emailVerifiedAt: 1, now: app.clock.now() });
    const set = (given: object = {}) =>
      setEmail(app)(user.id, { email: NEW, isProven: false, sendsLink: true, ...given }, OPERATOR);
    return { ...ada, set };
  };

  it('tells a proven former address, which can take the account back, and has the new one proven', async () => {
    const { app, ofAda, pending, happened, purposes, set } = await setUp(true);
    expect(await set({ email: ` ${NEW.toUpperCase()}` })).toBe(true);
    expect(await ofAda()).toMatchObject({ user: { email: NEW, emailVerifiedAt: null }, sessions: [{}] });
    expect(await pending()).toEqual([`email-changed to ${EMAIL}`, `email-verification to ${NEW}`]);
    expect(await happened()).toEqual(['email-changed', 'registered']);
    expect((await ofAda()).events[0]).toMatchObject({ actor: 'Una' });
    await app.sendAll();
    expect(await purposes()).toEqual(['email-change-undo', 'email-verification', 'not-me']);
    expect(await set()).toBe(false);
  });

  it('tells an address nothing that nobody has proven: it may be a stranger’s', async () => {
    const { pending, purposes, set } = await setUp(false);
    await set({ sendsLink: false });
    expect([await pending(), await purposes()]).toEqual([[], []]);
  });

  it('takes from whom the former address was the links that bring it back: an address that nobody has proven, or as asked', async () => {
    const { app, user, purposes, linkIn, set } = await setUp(false);
    const notice = { kind: 'passkey-added', to: EMAIL } as const;
    await linkIn(notice, 'factors-undo');
    await set({ isProven: true });
    expect(await purposes()).toEqual([]);
    await linkIn({ ...notice, to: NEW }, 'factors-undo');
    await set({ email: EMAIL, isProven: true });
    await app.sendAll();
    expect(await purposes()).toEqual(['email-change-undo', 'factors-undo']);
    await app.enqueue({ ...notice, userId: user.id });
    expect(await set({ email: EMAIL, withoutUndo: true })).toBe(false);
    expect(await purposes()).toEqual([]);
    await set({ isProven: true, withoutUndo: true });
    const mails = await app.sendAll();
    expect([mails.length, await purposes()]).toEqual([1, []]);
  });

  it.each([
    ['ends what was opened', false, { sessions: [], user: { emailVerifiedAt: expect.any(Number) } }],
    ['keeps what was opened, if the former one was proven', true, { sessions: [{}] }],
  ])('may take the new address for proven, and %s', async (_what, wasProven, expected) => {
    const { ofAda, logIn, set } = await setUp(wasProven);
    await set({ isProven: true });
    expect(await ofAda()).toMatchObject(expected);
    expect(await logIn()).toHaveProperty('accessToken');
  });

  it('refuses an address that another user has, or can take back, and an unknown user', async () => {
    const { app, ofAda, set } = await setUp(true);
    const { user: bob } = await app.register(BOB);
    const before = await ofAda();
    await expect(set({ email: BOB.email })).rejects.toMatchObject(DUPLICATE);
    await app.users.update(bob.id, { emailVerifiedAt: 1, now: app.clock.now() });
    await setEmail(app)(bob.id, { email: 'bob@new.example', isProven: false, sendsLink: false }, OPERATOR);
    await expect(set({ email: BOB.email })).rejects.toMatchObject(DUPLICATE);
    expect(await ofAda()).toEqual(before);
    const nobody = setEmail(app)('nobody', { email: NEW, isProven: true, sendsLink: false }, OPERATOR);
    await expect(nobody).rejects.toMatchObject(NO_RECORD);
  });

  it('changes all or nothing', async () => {
    const { app, ofAda, set } = await setUp(true);
    await expectAllOrNothing(app, ofAda, () => set());
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
    const prove = (id = user.id) => proveAddressAsOperator(app)(id, OPERATOR);
    expect(await prove()).toBe(true);
    expect(await ofAda()).toMatchObject({ user: { emailVerifiedAt: app.clock.now() }, sessions: [] });
    expect(await happened()).toEqual(['session-ended: address-proven', 'email-verified', 'registered']);
    expect(await app.login({ account: 'ada', password: ADA.password })).toHaveProperty('accessToken');
    expect(await prove()).toBe(false);
    await expect(prove('nobody')).rejects.toMatchObject(NO_RECORD);
  });
});
