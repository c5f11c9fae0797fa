// Proves ASVS 7.4.3; mail-8

import { describe, expect, it } from 'vitest';
import { confirmEmailChange } from '../../../src/application/accounts/change-email.ts';
import { putLink } from '../../../src/application/storage/credentials.ts';
import type { NoticeGroup } from '../../../src/domain/event-table.ts';
import { UNDO_LIFETIME } from '../../../src/domain/link.ts';
import { BOB, DUPLICATE, EMAIL, INVALID_LINK, ORIGIN, registeredAda, WRONG_PASSWORD } from '../../support/account.ts';
import { ADA, DAY, MINUTE, rejections } from '../../support/application.ts';
import { aLink, aSession } from '../../support/builders.ts';

const NEW_EMAIL = 'ada@new.example.org';
const ANOTHER_EMAIL = 'ada@another.example.org';

/** Ada, who can have her address changed. */
const setUp = async (given: { readonly mailNotices?: readonly NoticeGroup[] } = {}) => {
  const ada = await registeredAda(given);
  const { app } = ada;
  const confirmChange = confirmEmailChange(app);
  const confirm = (token: string, password = ADA.password) => confirmChange({ token, password, origin: ORIGIN });
  const linkTo = (to: string) => ada.linkIn({ kind: 'email-change', to }, 'email-change');
  const registerWith = (email: string) => app.register({ ...BOB, email });
  return {
    ...ada,
    confirm,
    confirmChange,
    linkTo,
    changeTo: async (email: string) => confirm(await linkTo(email)),
    /** Whether somebody else can register with an address, who is removed again. */
    isFree: async (email: string) => {
      const taken = await rejections([registerWith(email).then(({ user }) => app.users.remove(user.id))]);
      for (const error of taken) expect(error).toMatchObject(DUPLICATE);
      return taken.length === 0;
    },
  };
};

describe('confirmEmailChange', () => {
  it('changes the address, which is verified by that, and notifies the former one, without the whole new one', async () => {
    const { app, ofAda, happened, changeTo } = await setUp();
    app.clock.advance(MINUTE);
    await changeTo(NEW_EMAIL);
    const { user, events, messages } = await ofAda();
    expect(user).toMatchObject({ email: NEW_EMAIL, emailVerifiedAt: app.clock.now() });
    expect(await happened()).toEqual(['session-ended: address-proven', 'email-changed', 'registered']);
    expect(events[0]).toMatchObject(ORIGIN);
    expect(messages).toMatchObject([{ kind: 'email-changed', to: EMAIL, email: NEW_EMAIL, origin: ORIGIN }]);
    expect((await app.sendAll())[0]?.text).toContain('a***[@]new[.]example[.]org');
  });

  it('takes back what waits to be sent to the former address', async () => {
    const { app, user, linkTo, pending, confirm } = await setUp();
    const token = await linkTo(NEW_EMAIL);
    for (const kind of ['password-reset', 'email-verification', 'password-changed'] as const)
      await app.enqueue({ kind, userId: user.id, to: EMAIL });
    await app.enqueue({ kind: 'email-change', userId: user.id, to: ANOTHER_EMAIL });
    await confirm(token);
    expect(await pending()).toEqual([`password-changed to ${EMAIL}`, `email-changed to ${EMAIL}`]);
  });

  it('refuses a link that was used, has expired, never existed, or is for something else', async () => {
    const { app, ofAda, linkIn, linkTo, confirm } = await setUp();
    const token = await linkTo(NEW_EMAIL);
    const resetting = await linkIn({ kind: 'password-reset', to: EMAIL }, 'password-reset');
    for (const other of [resetting, app.secrets.random(), '']) {
      await expect(confirm(other)).rejects.toMatchObject(INVALID_LINK);
    }
    await confirm(token);
    const after = await ofAda();
    await expect(confirm(token)).rejects.toMatchObject(INVALID_LINK);
    expect(await ofAda()).toEqual(after);
    const expired = await linkTo(ANOTHER_EMAIL);
    app.clock.advance(DAY);
    await expect(confirm(expired)).rejects.toMatchObject(INVALID_LINK);
    expect((await ofAda()).user).toMatchObject({ email: NEW_EMAIL });
  });

  it('refuses the link of a disabled account, and accepts it when it is enabled again', async () => {
    const { ofAda, linkTo, setDisabled, confirm } = await setUp();
    const token = await linkTo(NEW_EMAIL);
    await setDisabled(1);
    const before = await ofAda();
    await expect(confirm(token)).rejects.toMatchObject(INVALID_LINK);
    expect(await ofAda()).toEqual(before);
    await setDisabled(null);
    await confirm(token);
  });

  it('refuses an address that somebody has got meanwhile, and keeps the link', async () => {
    const { app, ofAda, linkTo, confirm } = await setUp();
    const token = await linkTo(NEW_EMAIL);
    const { user: bob } = await app.register({ ...BOB, email: NEW_EMAIL });
    const before = await ofAda();
    await expect(confirm(token)).rejects.toMatchObject(DUPLICATE);
    expect(await ofAda()).toEqual(before);
    await app.users.remove(bob.id);
    await confirm(token);
  });

  it('needs a live session of the account, or its password', async () => {
    const { app, user, session, ofAda, linkTo, confirm, confirmChange } = await setUp();
    const { user: bob, ...other } = await app.register(BOB);
    const token = await linkTo(NEW_EMAIL);
    const own = { id: session.sessionId, userId: user.id };
    const ofBob = { id: other.sessionId, userId: bob.id };
    const ended = {
      id: (await app.login({ account: ADA.username, password: ADA.password })).sessionId,
      userId: user.id,
    };
    await app.sessions.end(ended);
    const expired = aSession({ userId: user.id, expiresAt: app.clock.now() });
    await app.sessions.add(expired);
    const before = await ofAda();
    const required = { code: 'CLIENT_PARAMS_VALIDATION_FAILED', details: [{ field: 'password', code: 'required' }] };
    for (const given of [undefined, ofBob, ended, expired, { ...ofBob, userId: user.id }]) {
      await expect(confirmChange({ token, session: given })).rejects.toMatchObject(required);
    }
    await expect(confirm(token, BOB.password)).rejects.toMatchObject(WRONG_PASSWORD);
    expect(await ofAda()).toEqual(before);
    await confirmChange({ token, session: own });
    expect((await ofAda()).user).toMatchObject({ email: NEW_EMAIL });
  });

  it('opens another session for the caller in place of the one that has confirmed it, if one has', async () => {
    const { app, user, session, ofAda, happened, linkTo, confirmChange, changeTo } = await setUp();
    const own = { id: session.sessionId, userId: user.id };
    const pair = await confirmChange({ token: await linkTo(NEW_EMAIL), session: own, origin: ORIGIN });
    expect(await app.authenticate(pair?.accessToken ?? '')).toMatchObject({
      ok: true,
      token: { claims: { user: { email: NEW_EMAIL } } },
    });
    expect((await happened()).slice(0, 3)).toEqual(['session-opened', 'session-ended: replaced', 'email-changed']);
    await expect(app.refresh([session.refreshToken])).rejects.toMatchObject({ code: 'AUTH_FAILED' });
    expect(await app.refresh([pair?.refreshToken ?? ''])).toHaveProperty('accessToken');
    expect(await changeTo(ANOTHER_EMAIL)).toBeNull();
    expect((await ofAda()).sessions).toHaveLength(1);
  });

  it('counts wrong passwords as those of log-ins to the account', async () => {
    const { app, linkTo, confirm } = await setUp();
    const token = await linkTo(NEW_EMAIL);
    const guess = () => rejections([confirm(token, 'a guess')]);
    for (let time = 0; time < 50; time += 1) expect(await guess()).toMatchObject([WRONG_PASSWORD]);
    const waits = { code: 'CLIENT_REQUEST_RATE_LIMIT_EXCEEDED' };
    expect(await guess()).toMatchObject([waits]);
    await expect(app.login({ account: ADA.username, password: ADA.password })).rejects.toMatchObject(waits);
  });
});

describe('an address that was given up', () => {
  it('is reserved for seven days, from the moment of the change', async () => {
    const { app, changeTo, isFree } = await setUp();
    await changeTo(NEW_EMAIL);
    expect(await isFree(EMAIL)).toBe(false);
    app.clock.advance(7 * DAY - 1);
    expect(await isFree(EMAIL)).toBe(false);
    app.clock.advance(1);
    expect(await isFree(EMAIL)).toBe(true);
  });

  it('goes to somebody else who proves it', async () => {
    const { app, about, changeTo, confirm } = await setUp();
    await changeTo(NEW_EMAIL);
    const { user: bob } = await app.register(BOB);
    const token = app.secrets.random();
    const [tokenHash, expiresAt] = [app.secrets.hashOf(token), app.clock.now() + DAY];
    await putLink(app.records, aLink({ userId: bob.id, purpose: 'email-change', tokenHash, email: EMAIL, expiresAt }));
    await confirm(token, BOB.password);
    expect((await about(bob.id)).user).toMatchObject({ email: EMAIL });
  });

  it('stays the first one of several changes, and is not reserved for longer by the later ones', async () => {
    const { app, pending, changeTo, isFree } = await setUp();
    await changeTo(NEW_EMAIL);
    await app.sendAll();
    app.clock.advance(DAY);
    await changeTo(ANOTHER_EMAIL);
    expect(await pending()).toEqual([`email-changed to ${NEW_EMAIL}`]);
    expect([await isFree(EMAIL), await isFree(NEW_EMAIL)]).toEqual([false, true]);
    app.clock.advance(6 * DAY);
    expect(await isFree(EMAIL)).toBe(true);
  });

  it('loses its links for changes of factors, unless it is the first one: it may be an attacker’s', async () => {
    const { app, user, ofAda, changeTo } = await setUp();
    await changeTo(NEW_EMAIL);
    const link = { userId: user.id, purpose: 'factors-undo', email: NEW_EMAIL, createdAt: app.clock.now() } as const;
    await putLink(app.records, aLink({ ...link, expiresAt: app.clock.now() + DAY }));
    await changeTo(ANOTHER_EMAIL);
    expect((await ofAda()).links).toMatchObject([{ purpose: 'email-change-undo', email: EMAIL }]);
  });

  it('keeps its link after a change back, which reserves no other one: that would be an attacker’s', async () => {
    const { app, user, ofAda, changeTo, isFree } = await setUp();
    await changeTo(NEW_EMAIL);
    await changeTo(EMAIL);
    expect((await ofAda()).links).toMatchObject([{ purpose: 'email-change-undo', email: EMAIL }]);
    expect(await isFree(NEW_EMAIL)).toBe(true);
    // The mail about the first change may be written after the second.
    await app.enqueue({ kind: 'email-changed', userId: user.id, to: EMAIL, email: NEW_EMAIL });
    expect((await app.sendAll()).find(({ to }) => to === EMAIL)?.text).toContain('email-change-undo#token=');
  });

  it('is reserved for another week when it is given up again, with what there was at first', async () => {
    const { app, user, ofAda, changeTo } = await setUp();
    await app.users.update(user.id, { emailVerifiedAt: app.clock.now(), now: app.clock.now() });
    await changeTo(NEW_EMAIL);
    const [first] = (await ofAda()).links;
    app.clock.advance(DAY);
    await changeTo(EMAIL);
    await changeTo('third@example.org');
    const { since, keeps } = first ?? expect.unreachable();
    const expiresAt = app.clock.now() + UNDO_LIFETIME;
    expect((await ofAda()).links).toMatchObject([
      { purpose: 'email-change-undo', email: EMAIL, since, keeps, expiresAt },
    ]);
  });

  it('is neither notified nor reserved without notices about addresses', async () => {
    const { pending, purposes, changeTo, isFree } = await setUp({ mailNotices: ['password', 'replay', 'new-device'] });
    await changeTo(NEW_EMAIL);
    expect([await pending(), await purposes()]).toEqual([[], []]);
    expect(await isFree(EMAIL)).toBe(true);
  });
});
