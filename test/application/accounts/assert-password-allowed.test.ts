// Proves ASVS 6.2.4, 6.2.5, 6.2.10; guess-3
import { describe, expect, it } from 'vitest';
import { ADA, application } from '../../support/application.ts';

const COMMON = 'a common one';
const isCommonPassword = (password: string) => password === COMMON;
const GUESSED_FIRST = [
  ['a common one', COMMON],
  ['the username', 'ada'],
  ['the email', ADA.email],
  ['the part of the email before its @', 'ADA'],
] as const;

describe('a password that is guessed first', () => {
  it.each(GUESSED_FIRST)('is rejected, and neither hashed nor stored: %s', async (_what, password) => {
    const app = application({ isCommonPassword });
    app.hasher.hash = () => Promise.reject(new Error('hashed'));
    await expect(app.register({ ...ADA, password })).rejects.toMatchObject({
      code: 'CLIENT_PARAMS_VALIDATION_FAILED',
      status: 400,
      details: [{ field: 'password', code: 'too_common', message: expect.not.stringContaining(password) }],
    });
    expect(await app.users.findByUsername(ADA.username)).toBeNull();
  });

  it.each(GUESSED_FIRST)('is accepted without a list: %s', async (_what, password) => {
    expect(await application({ isCommonPassword: null }).register({ ...ADA, password })).toHaveProperty('accessToken');
  });

  it('still logs in a user who already has it', async () => {
    const app = application({ isCommonPassword });
    const passwordHash = await app.hasher.hash(COMMON);
    const { user } = await app.register(ADA);
    await app.users.setPasswordHash(user.id, { passwordHash, isOfNewPassword: true, now: app.clock.now() });
    expect((await app.login({ account: 'Ada', password: COMMON })).user.id).toBe(user.id);
  });
});

describe('another password', () => {
  it.each([ADA.password, `${COMMON}!`, 'Adalbert', 'example.org'])('is accepted: %s', async (password) => {
    expect(await application({ isCommonPassword }).register({ ...ADA, password })).toHaveProperty('accessToken');
  });
});
