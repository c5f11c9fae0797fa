import { describe, expect, it } from 'vitest';
import { confirmEmailChange } from '../../../src/application/accounts/change-email.ts';
import { deleteAccountAsOperator } from '../../../src/application/accounts/operate-accounts.ts';
import { deleteAccount } from '../../../src/application/accounts/profile.ts';
import {
  BOB,
  EMAIL,
  NO_DATA,
  NO_RECORD,
  ORIGIN,
  registeredAda,
  summaryOf,
  WRONG_PASSWORD,
  withAudit,
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
    expect(await ofAda()).toEqual(NO_DATA);
    expect(await about(bob.id)).toEqual(before);
  });

  it('leaves to the audit log who was deleted, and which sessions ended', async () => {
    const { app, user, ofAda, [as]: removeAs } = await setUp();
    const { sessions } = await ofAda();
    const { deps, audit } = withAudit(app);
    await removeAs(deps)();
    const ended = 'session-ended: account-deleted';
    expect(audit.map(summaryOf)).toEqual([ended, ended, 'deleted']);
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
    expect(await ofAda()).toEqual(NO_DATA);
  });
});

it('deleteAccount happens once, also when it is asked for many times at once', async () => {
  const { remove } = await setUp();
  const refused = await rejections(Array.from({ length: 20 }, () => remove()));
  expect(refused).toEqual(Array(19).fill(expect.objectContaining(NO_RECORD)));
});

it('deleteAccountAsOperator needs no password, deletes a disabled account, too, and says whether there was one', async () => {
  const { ofAda, setDisabled, asOperator } = await setUp();
  await setDisabled(1);
  expect(await asOperator()()).toBe(true);
  expect(await ofAda()).toEqual(NO_DATA);
  expect(await asOperator()()).toBe(false);
});
