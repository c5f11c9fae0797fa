import { describe, expect, it } from 'vitest';
import { ADA, application, DAY } from '../support/application.ts';

const setUp = async () => {
  const app = application();
  return { app, token: (await app.register(ADA)).refreshToken };
};

describe('endSession', () => {
  it('makes the refresh token worthless', async () => {
    const { app, token } = await setUp();
    await app.endSession([token]);
    await expect(app.refresh([token])).rejects.toMatchObject({ code: 'AUTH_FAILED', level: 'info' });
  });

  it('ends the session of a token that was rotated, too', async () => {
    const { app, token } = await setUp();
    const { refreshToken } = await app.refresh([token]);
    await app.endSession([token]);
    await expect(app.refresh([refreshToken])).rejects.toMatchObject({ code: 'AUTH_FAILED' });
  });

  it('ends the sessions of all genuine tokens of a request', async () => {
    const { app, token } = await setUp();
    const other = (await app.login({ account: 'Ada', password: ADA.password })).refreshToken;
    const third = (await app.login({ account: 'Ada', password: ADA.password })).refreshToken;
    await app.endSession(['nonsense', token, other, token]);
    for (const ended of [token, other]) {
      await expect(app.refresh([ended])).rejects.toMatchObject({ code: 'AUTH_FAILED', level: 'info' });
    }
    expect(await app.refresh([third])).toHaveProperty('accessToken');
  });

  it('does not mind a session that has ended, an expired token, nonsense or nothing', async () => {
    const { app, token } = await setUp();
    await app.endSession([token]);
    await app.endSession([token]);
    await app.endSession(['nonsense', '']);
    await app.endSession([]);
    app.clock.advance(7 * DAY);
    await expect(app.endSession([token])).resolves.toBeUndefined();
  });

  it('ends nothing for an access token', async () => {
    const { app } = await setUp();
    const { accessToken, refreshToken } = await app.login({ account: 'Ada', password: ADA.password });
    await app.endSession([accessToken]);
    expect(await app.refresh([refreshToken])).toHaveProperty('accessToken');
  });
});
