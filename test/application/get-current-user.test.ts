import { describe, expect, it } from 'vitest';
import { ADA, application } from '../support/application.ts';

describe('getCurrentUser', () => {
  it('shows the user without the hash', async () => {
    const app = application();
    const { user } = await app.register(ADA);
    expect(await app.getCurrentUser(user.id)).toEqual(user);
    expect(user).not.toHaveProperty('passwordHash');
  });

  it('finds no user who is gone', async () => {
    const app = application();
    await expect(app.getCurrentUser(app.ids.next())).rejects.toMatchObject({
      code: 'DB_RECORD_NOT_FOUND',
      status: 404,
    });
  });
});
