// Proves ASVS 6.1.2, 6.2.11, 6.2.4, 6.2.5, 6.2.10; guess-3

import { describe, expect, it } from 'vitest';
import { messagesOf } from '../../../src/application/storage/outbox.ts';
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

  it('still logs in a user who already has it', async () => {
    const app = application({ isCommonPassword });
    const passwordHash = await app.hasher.hash(COMMON);
    const { user } = await app.register(ADA);
    await app.users.setPasswordHash(user.id, { passwordHash, isOfNewPassword: true, now: app.clock.now() });
    expect((await app.login({ account: 'Ada', password: COMMON })).user.id).toBe(user.id);
  });
});

describe('the name of the product or its host, with digits and signs', () => {
  const words = { isCommonPassword, productWords: ['Acme Notes', 'auth.acme.example', 'auth', 'acme', 'example', ''] };

  it.each(['acmenotes', 'Acme-Notes-2026!', 'auth.acme.example', 'AUTH12345', '2026.acme'])(
    'is rejected: %s',
    async (password) => {
      await expect(application(words).register({ ...ADA, password })).rejects.toMatchObject({
        details: [{ field: 'password', code: 'too_common', message: 'must be more than the name of this service' }],
      });
    },
  );

  it.each(['acme notes of ada', '1234567890', 'notes 2026'])('is part of others: %s', async (password) => {
    expect(await application(words).register({ ...ADA, password })).toHaveProperty('accessToken');
  });
});

describe('a password that has leaked', () => {
  const LEAKED = 'once somewhere else';
  const isLeakedPassword = async (password: string) => password === LEAKED;
  const withMail = { mailNotices: new Set(['password'] as const) };

  it('is rejected as a new one', async () => {
    await expect(application({ isLeakedPassword }).register({ ...ADA, password: LEAKED })).rejects.toMatchObject({
      code: 'CLIENT_PARAMS_VALIDATION_FAILED',
      details: [{ field: 'password', code: 'leaked' }],
    });
  });

  it('still logs in, and its user is asked to change it, once a day', async () => {
    let hasLeaked = false;
    const app = application({ ...withMail, isLeakedPassword: async () => hasLeaked });
    const { user } = await app.register(ADA);
    hasLeaked = true;
    const mails = async () => (await messagesOf(app.records, user.id)).map(({ kind }) => kind);
    await app.login({ account: 'Ada', password: ADA.password });
    await app.login({ account: 'Ada', password: ADA.password });
    expect((await mails()).filter((kind) => kind === 'password-leaked')).toHaveLength(1);
  });

  it('is not looked up for somebody who has guessed another', async () => {
    const asked: string[] = [];
    const app = application({ isLeakedPassword: async (password) => asked.push(password) < 0 });
    await app.register(ADA);
    asked.length = 0;
    await expect(app.login({ account: 'Ada', password: 'a wrong password' })).rejects.toMatchObject({
      code: 'AUTH_CREDENTIALS_INVALID',
    });
    expect(asked).toEqual([]);
  });
});

describe('another password', () => {
  it.each([ADA.password, `${COMMON}!`, 'Adalbert', 'example.org'])('is accepted: %s', async (password) => {
    expect(await application({ isCommonPassword }).register({ ...ADA, password })).toHaveProperty('accessToken');
  });
});
