import { describe, expect, it } from 'vitest';
import type { Session } from '../../src/domain/session.ts';
import { memoryStores } from '../../src/infrastructure/storages/memory-stores.ts';
import { ADA, application } from '../support/application.ts';

const setUp = async () => {
  const app = application();
  return { app, ada: await app.register(ADA) };
};

describe('login', () => {
  it.each(['Ada', 'ada', 'ADA', 'Ada@Example.org', 'ada@example.org', ' ADA@example.ORG '])(
    'finds the account %j',
    async (account) => {
      const { app, ada } = await setUp();
      const { user, accessToken } = await app.login({ account, password: ADA.password });
      expect(user).toEqual(ada.user);
      expect(await app.authenticate(accessToken)).toMatchObject({
        ok: true,
        token: { claims: { sub: user.id, user } },
      });
    },
  );

  it('opens a session in addition to existing ones', async () => {
    const { app, ada } = await setUp();
    const { refreshToken } = await app.login({ account: 'Ada', password: ADA.password });
    await app.logout([refreshToken]);
    await expect(app.refresh([refreshToken])).rejects.toMatchObject({ code: 'AUTH_FAILED' });
    expect(await app.refresh([ada.refreshToken])).toHaveProperty('accessToken');
  });

  it.each([
    ['another password', 'Ada', 'wrong horse'],
    ['the password in another letter case', 'Ada', 'Correct horse'],
    ['no password', 'Ada', ''],
    ['a password over 72 bytes that begins with the right one', 'Ada', `${ADA.password}${'x'.repeat(72)}`],
    ['an unknown username', 'Bob', ADA.password],
    ['an unknown email', 'bob@example.org', ADA.password],
    ['an account with an @ that only resembles a username', 'Ada@', ADA.password],
    ['no account', '', ADA.password],
  ])('refuses %s after one hash comparison, without saying which was wrong', async (_, account, password) => {
    const { app } = await setUp();
    const before = app.hasher.comparisons();
    const refusal = await app.login({ account, password }).catch((error: unknown) => error);
    expect(refusal).toMatchObject({ code: 'AUTH_CREDENTIALS_INVALID', status: 401, details: null, reason: undefined });
    expect(app.hasher.comparisons() - before).toBe(1);
  });

  it('opens no session when the request was aborted or the password is wrong', async () => {
    const { users, sessions } = memoryStores();
    let opened = 0;
    const add = async (session: Session) => {
      opened += 1;
      return sessions.add(session);
    };
    const app = application({ users, sessions: { ...sessions, add } });
    await app.register(ADA);
    await expect(app.login({ account: 'Ada', password: ADA.password }, AbortSignal.abort())).rejects.toThrow();
    await expect(app.login({ account: 'Ada', password: 'wrong horse' })).rejects.toThrow();
    expect(opened).toBe(1);
  });
});
