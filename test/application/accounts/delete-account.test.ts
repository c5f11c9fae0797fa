import { describe, expect, it } from 'vitest';
import { confirmEmailChange } from '../../../src/application/accounts/change-email.ts';
import { deleteAccount } from '../../../src/application/accounts/delete-account.ts';
import { deleteAccountAsOperator } from '../../../src/application/accounts/operate-accounts.ts';
import {
  audited,
  BOB,
  EMAIL,
  ENDED,
  inShort,
  NO_RECORD,
  NOTHING,
  ORIGIN,
  registeredAda,
  WRONG_PASSWORD,
} from '../../support/account.ts';
import { ADA, rejections } from '../../support/application.ts';
import { beforeNextTransaction } from '../../support/transactions.ts';

/** Ada, logged in twice, with a link and a message that waits. */
const setUp = async () => {
  const ada = await registeredAda();
  const { app, user, session } = ada;
  await ada.logIn();
  await ada.linkIn({ kind: 'password-reset', to: EMAIL }, 'password-reset');
  await app.enqueue({ kind: 'password-changed', userId: user.id, to: EMAIL });
  const asUser =
    (deps = app) =>
    (password = ADA.password, signal?: AbortSignal) => {
      const request = { userId: user.id, sessionId: session.sessionId, tokenIssuedAt: 0, password, origin: ORIGIN };
      return deleteAccount(deps)(request, signal);
    };
  const asOperator =
    (deps = app) =>
    () =>
      deleteAccountAsOperator(deps)(user.id, ORIGIN);
  return { ...ada, asUser, asOperator, remove: asUser() };
};

describe.each(['asUser', 'asOperator'] as const)('deleting an account %s', (as) => {
  it('removes everything about the user, and nothing of others', async () => {
    const { app, about, ofAda, [as]: removeAs } = await setUp();
    const { user: bob } = await app.register(BOB);
    const before = await about(bob.id);
    await removeAs()();
    expect(await ofAda()).toEqual(NOTHING);
    expect(await about(bob.id)).toEqual(before);
  });

  it('leaves to the audit log who was deleted, and which sessions ended', async () => {
    const { app, user, ofAda, [as]: removeAs } = await setUp();
    const { sessions } = await ofAda();
    const { deps, audit } = audited(app);
    await removeAs(deps)();
    const ended = 'session-ended: account-deleted';
    expect(audit.map(inShort)).toEqual([ended, ended, 'deleted']);
    for (const event of audit) expect(event).toMatchObject({ userId: user.id, ...ORIGIN });
    const ids = audit.flatMap(({ sessionId }) => sessionId ?? []);
    expect(ids.sort()).toEqual(sessions.map(({ id }) => id).sort());
  });

  it('frees the names, and an address that was reserved', async () => {
    const { app, user, linkIn, [as]: removeAs } = await setUp();
    await app.users.update(user.id, { emailVerifiedAt: 1, now: app.clock.now() });
    const to = 'ada@new.example.org';
    const token = await linkIn({ kind: 'email-change', to }, 'email-change');
    await confirmEmailChange(app)({ token, password: ADA.password });
    await removeAs()();
    await app.register(ADA);
    await app.register({ ...BOB, email: to });
  });

  it('lets a log-in that is under way open no session', async () => {
    const { app, ofAda, logIn, [as]: removeAs } = await setUp();
    const remove = removeAs();
    beforeNextTransaction(app, () => remove());
    await expect(logIn()).rejects.toMatchObject(WRONG_PASSWORD);
    expect(await ofAda()).toEqual(NOTHING);
  });
});

describe('deleteAccount', () => {
  it('refuses a wrong password, and makes guesses wait after fifty', async () => {
    const { ofAda, remove } = await setUp();
    const before = await ofAda();
    const refused = await rejections(Array.from({ length: 50 }, () => remove('a guess')));
    expect(refused).toEqual(Array(50).fill(expect.objectContaining(WRONG_PASSWORD)));
    await expect(remove()).rejects.toMatchObject({ code: 'CLIENT_REQUEST_RATE_LIMIT_EXCEEDED' });
    expect(await ofAda()).toEqual(before);
  });

  it('is refused when the password is changed meanwhile', async () => {
    const { app, ofAda, setPassword, remove } = await setUp();
    beforeNextTransaction(app, () => setPassword('staple battery', { isNew: true }));
    await expect(remove()).rejects.toMatchObject(WRONG_PASSWORD);
    expect((await ofAda()).sessions).toHaveLength(2);
    await remove('staple battery');
    expect(await ofAda()).toEqual(NOTHING);
  });

  it('succeeds when the same password is hashed again meanwhile', async () => {
    const { app, ofAda, setPassword, remove } = await setUp();
    beforeNextTransaction(app, () => setPassword(ADA.password, { isNew: false }));
    await remove();
    expect(await ofAda()).toEqual(NOTHING);
  });

  it('is refused when the session ends meanwhile', async () => {
    const { app, user, session, ofAda, remove } = await setUp();
    beforeNextTransaction(app, () => app.sessions.end({ id: session.sessionId, userId: user.id }));
    await expect(remove()).rejects.toMatchObject(ENDED);
    expect((await ofAda()).user).not.toBeNull();
  });

  it('happens once, also when it is asked for many times at once', async () => {
    const { remove } = await setUp();
    const refused = await rejections(Array.from({ length: 20 }, () => remove()));
    expect(refused).toEqual(Array(19).fill(expect.objectContaining(NO_RECORD)));
  });

  it('has no effect once it is cancelled', async () => {
    const { ofAda, remove } = await setUp();
    const before = await ofAda();
    await expect(remove(ADA.password, AbortSignal.abort(new Error('too late')))).rejects.toThrow('too late');
    expect(await ofAda()).toEqual(before);
  });
});

describe('deleteAccountAsOperator', () => {
  it('needs no password, deletes a disabled account, too, and says whether there was one', async () => {
    const { ofAda, setDisabled, asOperator } = await setUp();
    await setDisabled(1);
    expect(await asOperator()()).toBe(true);
    expect(await ofAda()).toEqual(NOTHING);
    expect(await asOperator()()).toBe(false);
  });

  it('records nothing about a user who does not exist', async () => {
    const { app } = await setUp();
    const { deps, audit } = audited(app);
    expect(await deleteAccountAsOperator(deps)('nobody', ORIGIN)).toBe(false);
    expect(audit).toEqual([]);
  });
});
