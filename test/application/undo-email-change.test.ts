import { describe, expect, it } from 'vitest';
import { timeText } from '../../src/application/mail/formats.ts';
import { confirmEmailChange } from '../../src/application/use-cases/confirm-email-change.ts';
import { undoEmailChange } from '../../src/application/use-cases/undo-email-change.ts';
import { BOB, DUPLICATE, EMAIL, INVALID_LINK, ORIGIN, registeredAda, WRONG_PASSWORD } from '../support/account.ts';
import { ADA, DAY, MINUTE, rejections } from '../support/application.ts';
import { notingPasswordHasher } from '../support/fakes.ts';
import { tokenIn } from '../support/mail/sender.ts';
import { expectAllOrNothing } from '../support/units.ts';

const NEW_EMAIL = 'attacker@example.org';
const NEW_PASSWORD = 'staple battery';

/** Ada, logged in twice, whose address somebody has changed who knows her password. The former address has got its mail. */
const setUp = async () => {
  const ada = await registeredAda();
  const { app } = ada;
  const confirm = confirmEmailChange(app);
  const changeTo = async (to: string) => {
    const token = await ada.linkIn({ kind: 'email-change', to }, 'email-change');
    await confirm({ token, password: ADA.password });
  };
  await ada.logIn();
  await changeTo(NEW_EMAIL);
  const [mail = { text: 'nothing', to: 'nobody' }] = await app.sendAll();
  expect(mail.to).toBe(EMAIL);
  return { ...ada, changeTo, token: tokenIn(mail, 'email-change-undo'), undo: undoEmailChange(app) };
};

describe('undoEmailChange', () => {
  it('is possible for a day more after a reset of the password by the new address, of which both addresses are notified', async () => {
    const { app, ofAda, pending, linkIn, token, undo } = await setUp();
    const reset = async () => {
      const link = await linkIn({ kind: 'password-reset', to: NEW_EMAIL }, 'password-reset');
      await app.resetPassword({ token: link, newPassword: NEW_PASSWORD });
    };
    await reset();
    expect(await pending()).toEqual([
      `email-change-final to ${EMAIL}`,
      `email-change-final to ${NEW_EMAIL}`,
      `password-was-reset to ${NEW_EMAIL}`,
    ]);
    const [toFormer] = await app.sendAll();
    expect(toFormer?.text.replaceAll('\n', ' ')).toContain(timeText(app.clock.now() + DAY, 'en'));
    app.clock.advance(DAY - 1);
    await reset();
    app.clock.advance(1);
    await expect(undo(token)).rejects.toMatchObject(INVALID_LINK);
    expect((await ofAda()).user).toMatchObject({ email: NEW_EMAIL });
    await app.register({ ...BOB, email: EMAIL });
  });

  it('restores the address, which is verified by that', async () => {
    const { app, ofAda, token, undo } = await setUp();
    app.clock.advance(MINUTE);
    await undo(token, ORIGIN);
    const { user, events } = await ofAda();
    expect(user).toMatchObject({ email: EMAIL, emailVerifiedAt: app.clock.now() });
    expect(events.find(({ kind }) => kind === 'email-change-undone')).toMatchObject(ORIGIN);
  });

  it('ends all sessions, and says why', async () => {
    const { app, session, ofAda, happened, token, undo } = await setUp();
    await undo(token, ORIGIN);
    expect((await ofAda()).sessions).toEqual([]);
    const ended = 'session-ended: email-change-undone';
    expect((await happened()).slice(0, 4)).toEqual([ended, ended, 'email-change-undone', 'email-changed']);
    await expect(app.refresh([session.refreshToken])).rejects.toMatchObject({ code: 'AUTH_FAILED' });
  });

  it('makes the password invalid, and has a link for a new one sent to the restored address', async () => {
    const { app, ofAda, pending, logIn, token, undo } = await setUp();
    app.clock.advance(MINUTE);
    await undo(token);
    await expect(logIn()).rejects.toMatchObject(WRONG_PASSWORD);
    expect((await ofAda()).user).toMatchObject({ passwordChangedAt: app.clock.now() });
    expect(await pending()).toEqual([`email-change-undone to ${EMAIL}`, `password-reset to ${EMAIL}`]);
    const mails = await app.sendAll();
    const reset = tokenIn(mails.at(-1) ?? { text: 'nothing' }, 'password-reset');
    await app.resetPassword({ token: reset, newPassword: NEW_PASSWORD });
    expect(await logIn(NEW_PASSWORD)).toHaveProperty('accessToken');
  });

  it('ends all links, and messages with links that wait, but not notices', async () => {
    const { app, user, linkIn, purposes, pending, token, undo } = await setUp();
    await linkIn({ kind: 'password-reset', to: NEW_EMAIL }, 'password-reset');
    await linkIn({ kind: 'email-change', to: 'another@example.org' }, 'email-change');
    for (const kind of ['password-reset', 'password-changed'] as const) {
      await app.enqueue({ kind, userId: user.id, to: NEW_EMAIL });
    }
    await app.enqueue({ kind: 'email-change', userId: user.id, to: 'another@example.org' });
    expect(await purposes()).toEqual(['email-change', 'email-change-undo', 'password-reset']);
    await undo(token);
    expect(await purposes()).toEqual([]);
    expect(await pending()).toEqual([
      `password-changed to ${NEW_EMAIL}`,
      `email-change-undone to ${EMAIL}`,
      `password-reset to ${EMAIL}`,
    ]);
  });

  it('holds the other address for nobody', async () => {
    const { app, token, undo } = await setUp();
    await undo(token);
    await app.register({ ...BOB, email: NEW_EMAIL });
  });

  it('undoes the first of several changes', async () => {
    const { app, ofAda, changeTo, token, undo } = await setUp();
    await changeTo('another@example.org');
    const [again] = await app.sendAll();
    expect(again).toMatchObject({ to: NEW_EMAIL, text: expect.not.stringContaining('#token=') });
    await undo(token);
    expect((await ofAda()).user).toMatchObject({ email: EMAIL });
  });

  it('restores the address of a disabled account, which stays disabled', async () => {
    const { ofAda, setDisabled, token, undo } = await setUp();
    await setDisabled(1);
    await undo(token);
    expect((await ofAda()).user).toMatchObject({ email: EMAIL, disabledAt: 1 });
  });

  it('works once, also when it is asked for many times at once', async () => {
    const { happened, token, undo } = await setUp();
    const refused = await rejections(Array.from({ length: 20 }, () => undo(token)));
    expect(refused).toEqual(Array(19).fill(expect.objectContaining(INVALID_LINK)));
    expect((await happened()).filter((what) => what === 'email-change-undone')).toHaveLength(1);
  });

  it('refuses a link after seven days, and after a change back', async () => {
    const { app, ofAda, changeTo, token, undo } = await setUp();
    app.clock.advance(7 * DAY);
    await expect(undo(token)).rejects.toMatchObject(INVALID_LINK);
    expect((await ofAda()).user).toMatchObject({ email: NEW_EMAIL });

    const other = await setUp();
    await other.changeTo(EMAIL);
    await expect(other.undo(other.token)).rejects.toMatchObject(INVALID_LINK);
    expect((await other.ofAda()).sessions).toHaveLength(2);
    await changeTo(EMAIL);
  });

  it('hashes no password without a live link', async () => {
    const { app, token } = await setUp();
    const { hashed, hasher } = notingPasswordHasher(app.hasher);
    const undo = undoEmailChange({ ...app, hasher });
    await expect(undo(app.linkTokens.next())).rejects.toMatchObject(INVALID_LINK);
    expect(hashed).toEqual([]);
    await undo(token);
    expect(hashed).toHaveLength(1);
  });

  it('changes nothing when an operator has given the address to somebody else, and keeps the link', async () => {
    const { app, ofAda, logIn, token, undo } = await setUp();
    const { user: bob } = await app.register(BOB);
    await app.users.update(bob.id, { email: EMAIL, now: app.clock.now() });
    const before = await ofAda();
    await expect(undo(token)).rejects.toMatchObject(DUPLICATE);
    expect(await ofAda()).toEqual(before);
    expect(await logIn(ADA.password)).toHaveProperty('accessToken');
    await app.users.remove(bob.id);
    await undo(token);
  });

  it('changes all or nothing', async () => {
    const { app, ofAda, token, undo } = await setUp();
    await expectAllOrNothing(app, ofAda, () => undo(token));
  });
});
