import { describe, expect, it } from 'vitest';
import { ADA, application } from '../support/application.ts';

describe('getCurrentUser', () => {
  it('returns the user without the hash', async () => {
    const app = application();
    const { user } = await app.register(ADA);
    expect(await app.getCurrentUser(user.id)).toEqual(user);
    expect(user).not.toHaveProperty('passwordHash');
  });

  it('rejects with DB_RECORD_NOT_FOUND when the user does not exist', async () => {
    const app = application();
    await expect(app.getCurrentUser(app.ids.next())).rejects.toMatchObject({
      code: 'DB_RECORD_NOT_FOUND',
      status: 404,
    });
  });
});
