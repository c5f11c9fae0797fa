// Proves SPEC 16.5
import { describe, expect, it, vi } from 'vitest';
import { ADA, application, DAY } from '../../support/application.ts';
import { plainPasswordHasher } from '../../support/fakes.ts';
import { reportsOf } from '../../support/reports.ts';

/** Ada, whose hash was made at a lower cost than is configured. */
const setUp = async () => {
  const failures: unknown[] = [];
  const app = application({ report: reportsOf('rehash-failed', (error) => failures.push(error)) });
  const { users } = app;
  const { user } = await app.register(ADA);
  const passwordHash = await plainPasswordHasher(9).hash(ADA.password);
  await users.setPasswordHash(user.id, { passwordHash, isOfNewPassword: false, now: app.clock.now() });
  app.clock.advance(DAY);
  const hash = vi.spyOn(app.hasher, 'hash');
  const stored = async () => (await users.findById(user.id))?.passwordHash ?? '';
  const logIn = (password = ADA.password) => app.login({ account: ADA.username, password });
  return { app, users, user, failures, hash, stored, passwordHash, logIn };
};

describe('a hash of a lower cost than the configured one', () => {
  it('is replaced at the next log-in, once', async () => {
    const { app, hash, stored, logIn, user } = await setUp();
    const loggedIn = await logIn();
    expect(app.hasher.needsRehash(await stored())).toBe(false);
    expect(await app.hasher.verify(ADA.password, await stored())).toBe(true);
    expect(loggedIn.user).toEqual({ ...user, updatedAt: app.clock.now() });
    expect(await app.users.findById(user.id)).toMatchObject({ ...loggedIn.user, passwordChangedAt: 0 });
    await logIn();
    expect(hash).toHaveBeenCalledTimes(1);
  });

  it('is not replaced when the log-in fails', async () => {
    const { hash, stored, passwordHash, logIn } = await setUp();
    await expect(logIn('a guess')).rejects.toMatchObject({ code: 'AUTH_CREDENTIALS_INVALID' });
    expect(hash).not.toHaveBeenCalled();
    expect(await stored()).toBe(passwordHash);
  });

  it.each(['hash', 'setPasswordHash'] as const)(
    'does not prevent the log-in when %s fails, and the failure is reported',
    async (what) => {
      const { app, users, failures, stored, passwordHash, logIn, user } = await setUp();
      const down = new Error('down');
      if (what === 'hash') app.hasher.hash = () => Promise.reject(down);
      else users.setPasswordHash = () => Promise.reject(down);
      expect((await logIn()).user).toEqual(user);
      expect(failures).toEqual([down]);
      expect(await stored()).toBe(passwordHash);
    },
  );

  it('does not restore a password that was changed in the meantime, and does not admit it', async () => {
    const { app, users, user, stored, logIn } = await setUp();
    const { hash } = app.hasher;
    app.hasher.hash = async (password) => {
      const passwordHash = 'the hash of another password';
      await users.setPasswordHash(user.id, { passwordHash, isOfNewPassword: true, now: app.clock.now() });
      return hash(password);
    };
    await expect(logIn()).rejects.toMatchObject({ code: 'AUTH_CREDENTIALS_INVALID' });
    expect(await stored()).toBe('the hash of another password');
    expect(await app.sessions.listByUser(user.id, app.clock.now())).toHaveLength(1);
  });
});

it.each([10, 11])('a hash of the configured cost, or of a higher one is not replaced: %i', async (cost) => {
  const { users, user, hash, stored, logIn } = await setUp();
  const passwordHash = await plainPasswordHasher(cost).hash(ADA.password);
  await users.setPasswordHash(user.id, { passwordHash, isOfNewPassword: false, now: 0 });
  await logIn();
  expect(hash).not.toHaveBeenCalled();
  expect(await stored()).toBe(passwordHash);
});
