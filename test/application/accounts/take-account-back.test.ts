// Proves theft-8

import { describe, expect, it } from 'vitest';
import { confirmEmailChange } from '../../../src/application/accounts/change-email.ts';
import { takeAccountBack } from '../../../src/application/accounts/mail-links.ts';
import { makeRecoveryCodes, removeApp } from '../../../src/application/factors/manage-factors.ts';
import { timeText } from '../../../src/application/mail/write-mail.ts';
import type { Core } from '../../../src/application/service.ts';
import {
  factorsOf,
  linksOf,
  passkeysOf,
  recoveryCodesOf,
  storeRecoveryCodes,
} from '../../../src/application/storage/credentials.ts';
import { eventsOf } from '../../../src/application/storage/events.ts';
import type { Origin } from '../../../src/domain/event.ts';
import { FACTOR_UNDOS_KEPT, type UndoPurpose } from '../../../src/domain/link.ts';
import { BOB, DUPLICATE, EMAIL, INVALID_LINK, ORIGIN, registeredAda, summaryOf } from '../../support/account.ts';
import { ADA, DAY, MINUTE } from '../../support/application.ts';
import { tokenIn } from '../../support/mail/sender.ts';
import { person } from '../../support/takeover/person.ts';
import { takeoverWorld } from '../../support/takeover/world.ts';

const NEW_EMAIL = 'attacker@example.org';
const NEW_PASSWORD = 'staple battery';

const undoing =
  (deps: Core, purpose: UndoPurpose = 'email-change-undo') =>
  (token: string, origin?: Origin) =>
    takeAccountBack(deps, purpose)({ token, ...(origin && { origin }) });

/** Ada, who has verified her address and is logged in twice, whose address somebody has changed who knows her password. The former address has got its mail. */
const setUp = async () => {
  const ada = await registeredAda();
  const { app } = ada;
  await app.users.update(ada.user.id, { emailVerifiedAt: app.clock.now(), now: app.clock.now() });
  await ada.logIn();
  const link = await ada.linkIn({ kind: 'email-change', to: NEW_EMAIL }, 'email-change');
  await confirmEmailChange(app)({ token: link, password: ADA.password });
  const [mail = { text: 'nothing', to: 'nobody' }] = await app.sendAll();
  expect(mail.to).toBe(EMAIL);
  return { ...ada, token: tokenIn(mail, 'email-change-undo'), undo: undoing(app) };
};

describe('takeAccountBack, with the link of a changed address', () => {
  it('is possible for seven days, also after resets of the password by the new address, of which both addresses are notified', async () => {
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
    expect(toFormer?.text.replaceAll('\n', ' ')).toContain(timeText(app.clock.now() + 7 * DAY, 'en'));
    app.clock.advance(7 * DAY - 1);
    await reset();
    await undo(token);
    expect((await ofAda()).user).toMatchObject({ email: EMAIL });
  });

  it('restores the address, which is verified by that, and has a link for a new password sent to it', async () => {
    const { app, ofAda, happened, pending, token, undo } = await setUp();
    app.clock.advance(MINUTE);
    await undo(token, ORIGIN);
    const now = app.clock.now();
    expect((await ofAda()).user).toMatchObject({ email: EMAIL, emailVerifiedAt: now, passwordChangedAt: now });
    const ended = 'session-ended: email-change-undone';
    expect((await happened()).slice(0, 4)).toEqual([ended, ended, 'email-change-undone', 'email-changed']);
    expect((await ofAda()).events[2]).toMatchObject(ORIGIN);
    expect(await pending()).toEqual([`email-change-undone to ${EMAIL}`, `password-reset to ${EMAIL}`]);
    // Nobody has the other address.
    await app.register({ ...BOB, email: NEW_EMAIL });
  });

  it('takes messages with links back that wait, but not notices', async () => {
    const { app, user, purposes, pending, token, undo } = await setUp();
    for (const kind of ['password-reset', 'email-change', 'password-changed'] as const)
      await app.enqueue({ kind, userId: user.id, to: NEW_EMAIL });
    await undo(token);
    expect(await purposes()).toEqual([]);
    expect(await pending()).toEqual([
      `password-changed to ${NEW_EMAIL}`,
      `email-change-undone to ${EMAIL}`,
      `password-reset to ${EMAIL}`,
    ]);
  });

  it('restores the address of a disabled account, which stays disabled', async () => {
    const { ofAda, setDisabled, token, undo } = await setUp();
    await setDisabled(1);
    await undo(token);
    expect((await ofAda()).user).toMatchObject({ email: EMAIL, disabledAt: 1 });
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
});

/** Ada, who has verified her address, and has a passkey and an authenticator app from before. A thief knows everything that she has typed. */
const robbed = async () => {
  const world = await takeoverWorld({ secondFactor: 'optional', emailVerification: 'optional' });
  const { app, deps, userId } = world;
  await app.users.update(userId, { emailVerifiedAt: app.clock.now(), now: app.clock.now() });
  const ada = person(world, ADA.username);
  ada.hold(world.session);
  await ada.addPasskey();
  await ada.addApp();
  await app.sendAll();
  app.clock.advance(10 * DAY);
  /** With a second factor, on a device that is not remembered. */
  const logInAgain = async () => {
    ada.remembered.length = 0;
    await ada.logIn(ADA.password);
  };
  await logInAgain();
  const undosOf = async (email: string) =>
    (await world.linksOf(email)).filter(({ purpose }) => purpose === 'factors-undo').map(({ token }) => token);
  const stored = async () => ({
    user: await world.stored(),
    passkeys: (await passkeysOf(app.records, userId)).length,
    apps: (await factorsOf(app.records, userId)).length,
    codes: (await recoveryCodesOf(app.records, userId)).length,
  });
  const undo = (token: string | undefined, origin = ORIGIN) =>
    takeAccountBack(deps, 'factors-undo')({ token: token ?? 'none', origin });
  return { world, app, deps, userId, ada, logInAgain, undosOf, stored, undo };
};

describe('takeAccountBack, with the link of a change of factors', () => {
  it('removes what was added since, and says what has ended', async () => {
    const { world, app, userId, ada, undosOf, stored, undo } = await robbed();
    await ada.addPasskey();
    await ada.addApp();
    await ada.startApp();
    const [first] = await undosOf(EMAIL);
    const before = app.mails.length;
    await undo(first);
    expect(await stored()).toMatchObject({ passkeys: 1, apps: 1, user: { secondFactorAt: expect.any(Number) } });
    const kinds = (await eventsOf(app.records, { userId, before: null, limit: 8 })).map(summaryOf);
    for (const kind of ['factors-undone', 'passkey-removed', 'second-factor-removed', 'session-ended: factors-undone'])
      expect(kinds).toContain(kind);
    expect((await world.linksOf(EMAIL)).at(-1)?.purpose).toBe('password-reset');
    expect(app.mails).toHaveLength(before + 2);
  });

  it('ends the links of later changes, and no earlier one', async () => {
    const { app, ada, undosOf, stored, undo } = await robbed();
    const tokens: (string | undefined)[] = [];
    for (let change = 0; change < 3; change += 1) {
      app.clock.advance(MINUTE);
      await ada.addPasskey();
      tokens.push((await undosOf(EMAIL)).at(-1));
    }
    const [first, second, third] = tokens;
    await undo(second);
    expect((await stored()).passkeys).toBe(2);
    await expect(undo(third)).rejects.toMatchObject(INVALID_LINK);
    await undo(first);
    expect((await stored()).passkeys).toBe(1);
  });

  it('removes recovery codes also when time passes between their event and the mail', async () => {
    const { app, deps, ada, undosOf, stored, undo } = await robbed();
    const clock = {
      now: () => {
        app.clock.advance(1);
        return app.clock.now();
      },
    };
    await makeRecoveryCodes({ ...deps, clock })(ada.caller(), ORIGIN);
    await undo((await undosOf(EMAIL)).at(-1));
    expect((await stored()).codes).toBe(0);
  });

  it('keeps the earlier recovery codes of a user who has passkeys alone', async () => {
    const { app, userId, ada, undosOf, stored, undo } = await robbed();
    for (const { id } of await factorsOf(app.records, userId)) await removeApp(app)(ada.caller(), id);
    await storeRecoveryCodes(app.records, userId, [app.ids.next()]);
    app.clock.advance(MINUTE);
    await ada.addPasskey();
    await undo((await undosOf(EMAIL)).at(-1));
    expect(await stored()).toMatchObject({ passkeys: 1, codes: 1 });
  });

  it('ends the second factor that a thief has begun', async () => {
    const { app, userId, ada, undosOf, stored, undo } = await robbed();
    for (const { id } of await factorsOf(app.records, userId)) await removeApp(app)(ada.caller(), id);
    await ada.addApp();
    expect((await stored()).user?.secondFactorAt).not.toBeNull();
    await undo((await undosOf(EMAIL)).at(-1));
    expect(await stored()).toMatchObject({ apps: 0, codes: 0, user: { secondFactorAt: null } });
  });

  it('is valid for seven days from the change', async () => {
    const { app, ada, undosOf, undo } = await robbed();
    await ada.addPasskey();
    const tokens = await undosOf(EMAIL);
    app.clock.advance(7 * DAY - 1);
    const other = await robbed();
    await other.ada.addPasskey();
    const [early] = await other.undosOf(EMAIL);
    other.app.clock.advance(7 * DAY);
    await expect(other.undo(early)).rejects.toMatchObject(INVALID_LINK);
    await undo(tokens.at(-1));
  });

  it('keeps the first links, however many changes follow', async () => {
    const { app, userId, ada, logInAgain, undosOf, stored, undo } = await robbed();
    for (let change = 0; change < FACTOR_UNDOS_KEPT + 3; change += 1) {
      await ada.addPasskey();
      await app.sendAll();
      app.clock.advance(60 * MINUTE);
      await logInAgain();
    }
    const live = await linksOf(app.records, userId, app.clock.now());
    expect(live.filter(({ purpose }) => purpose === 'factors-undo')).toHaveLength(FACTOR_UNDOS_KEPT);
    expect(await undosOf(EMAIL)).toEqual([]);
    expect(app.mails.at(-2)?.text.replaceAll('\n', ' ')).toContain(
      'the link in the message about the first such change',
    );
    const [first = { text: 'nothing' }] = app.mails
      .filter(({ text }) => text.includes('/factors-undo#'))
      .slice(-FACTOR_UNDOS_KEPT);
    await undo(tokenIn(first, 'factors-undo'));
    expect((await stored()).passkeys).toBe(1);
  });

  it('is sent to the address that the account had, and restores it', async () => {
    const { world, app, deps, userId, ada, logInAgain, undosOf, stored, undo } = await robbed();
    await ada.addPasskey();
    await app.enqueue({ kind: 'email-change', userId, to: NEW_EMAIL });
    const change = (await world.linksOf(NEW_EMAIL)).at(-1);
    await confirmEmailChange(deps)({ token: change?.token ?? '', password: ADA.password });
    await logInAgain();
    await ada.addPasskey();
    const [thiefs] = await undosOf(NEW_EMAIL);
    // That link restores no address, and cannot end the owner's links.
    await undo(thiefs);
    expect((await stored()).user).toMatchObject({ email: NEW_EMAIL });
    await undo((await undosOf(EMAIL)).at(-1));
    expect(await stored()).toMatchObject({ passkeys: 1, user: { email: EMAIL } });
    await expect(undo(thiefs)).rejects.toMatchObject(INVALID_LINK);
  });
});
