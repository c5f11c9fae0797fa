// Proves script-2
import { describe, expect, it } from 'vitest';
import { requestEmailChange } from '../../../src/application/accounts/change-email.ts';
import { changePassword, deleteAccount } from '../../../src/application/accounts/profile.ts';
import { ORIGIN, registeredAda, TOKEN_INVALID, WRONG_PASSWORD } from '../../support/account.ts';
import { ADA, MINUTE, rejections } from '../../support/application.ts';
import { beforeNextTransaction } from '../../support/transactions.ts';

/** What users do in a session who type their password once more. */
const ACTS = ['a new address', 'a new password', 'the end of the account'] as const;

const setUp = async (what: (typeof ACTS)[number]) => {
  const ada = await registeredAda();
  const { app, user, session } = ada;
  app.clock.advance(MINUTE);
  const key = { userId: user.id, sessionId: session.sessionId };
  const act = (password = ADA.password, signal?: AbortSignal): Promise<unknown> => {
    const request = { ...key, tokenIssuedAt: app.clock.now() / 1000, origin: ORIGIN };
    const newPassword = 'another battery';
    if (what === 'a new password')
      return changePassword(app)({ ...request, currentPassword: password, newPassword }, signal);
    if (what === 'the end of the account') return deleteAccount(app)({ ...request, password }, signal);
    return requestEmailChange(app)({ ...request, password, email: 'ada@new.example.org' }, signal);
  };
  return { ...ada, act, endSession: () => app.sessions.end({ id: key.sessionId, userId: key.userId }) };
};

describe.each(ACTS)('%s', (what) => {
  it('is refused with a wrong password, and guesses wait after fifty', async () => {
    const { ofAda, act } = await setUp(what);
    const before = await ofAda();
    const refused = await rejections(['', ...Array(49).fill('a guess')].map((guess) => act(guess)));
    expect(refused).toEqual(Array(50).fill(expect.objectContaining(WRONG_PASSWORD)));
    await expect(act()).rejects.toMatchObject({ code: 'CLIENT_REQUEST_RATE_LIMIT_EXCEEDED' });
    expect(await ofAda()).toEqual(before);
  });

  it('is refused when the password is changed meanwhile, until the new one is given', async () => {
    const { app, happened, pending, setPassword, act } = await setUp(what);
    beforeNextTransaction(app, () => setPassword('staple battery', { isNew: true }));
    await expect(act()).rejects.toMatchObject(WRONG_PASSWORD);
    expect([await happened(), await pending()]).toEqual([['registered'], []]);
    await act('staple battery');
    expect(await happened()).not.toEqual(['registered']);
  });

  it('happens when the same password is hashed again meanwhile', async () => {
    const { app, happened, setPassword, act } = await setUp(what);
    beforeNextTransaction(app, () => setPassword(ADA.password, { isNew: false }));
    await act();
    expect(await happened()).not.toEqual(['registered']);
  });

  it('is refused when the session ends meanwhile', async () => {
    const { app, happened, pending, endSession, act } = await setUp(what);
    beforeNextTransaction(app, endSession);
    await expect(act()).rejects.toMatchObject(TOKEN_INVALID);
    expect([await happened(), await pending()]).toEqual([['registered'], []]);
  });

  it('has no effect once it is cancelled', async () => {
    const { ofAda, act } = await setUp(what);
    const before = await ofAda();
    await expect(act(ADA.password, AbortSignal.abort(new Error('too late')))).rejects.toThrow('too late');
    expect(await ofAda()).toEqual(before);
  });
});
