import { describe, expect, it } from 'vitest';
import { ADA, application } from '../../support/application.ts';

describe('getCurrentUser', () => {
  it('returns the user without the hash', async () => {
    const app = application();
    const { user, sessionId } = await app.register(ADA);
    expect(await app.getCurrentUser({ userId: user.id, sessionId })).toEqual({
      ...user,
      emailVerified: false,
      attributes: {},
      locale: null,
      secondFactor: false,
      passkeys: 0,
    });
    expect(user).not.toHaveProperty('passwordHash');
  });
});
