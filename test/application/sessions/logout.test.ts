import { describe, expect, it } from 'vitest';
import { eventsOf } from '../../../src/application/storage/events.ts';
import { BOB } from '../../support/account.ts';
import { ADA, application, DAY } from '../../support/application.ts';

const setUp = async () => {
  const app = application();
  return { app, token: (await app.register(ADA)).refreshToken };
};

describe('logout', () => {
  it('ends the session of a rotated token too', async () => {
    const { app, token } = await setUp();
    const { refreshToken } = await app.refresh([token]);
    await app.logout([token]);
    await expect(app.refresh([refreshToken])).rejects.toMatchObject({ code: 'AUTH_FAILED' });
  });

  it('ends the session of a reused token as a replay, and notifies its user', async () => {
    const { app, token } = await setUp();
    await app.refresh([token]);
    app.clock.advance(DAY);
    await app.logout([token]);
    const user = await app.users.findByUsername('Ada');
    const [event] = await eventsOf(app.records, { userId: user?.id ?? '', before: null, limit: 1 });
    expect(event).toMatchObject({ kind: 'session-ended', reason: 'token-replayed' });
  });

  it('ends the sessions of all verified tokens of a request, whoever their users are', async () => {
    const { app, token } = await setUp();
    const other = (await app.login({ account: 'Ada', password: ADA.password })).refreshToken;
    const third = (await app.login({ account: 'Ada', password: ADA.password })).refreshToken;
    const bobs = (await app.register(BOB)).refreshToken;
    await app.logout(['nonsense', token, other, bobs, token]);
    for (const ended of [token, other, bobs]) {
      await expect(app.refresh([ended])).rejects.toMatchObject({ code: 'AUTH_FAILED', level: 'info' });
    }
    expect(await app.refresh([third])).toHaveProperty('accessToken');
  });

  it('ignores a session that has ended, an expired token, arbitrary text and no token', async () => {
    const { app, token } = await setUp();
    await app.logout([token]);
    await app.logout([token]);
    await app.logout(['nonsense', '']);
    await app.logout([]);
    app.clock.advance(7 * DAY);
    await expect(app.logout([token])).resolves.toBeUndefined();
  });

  it('ignores an access token', async () => {
    const { app } = await setUp();
    const { accessToken, refreshToken } = await app.login({ account: 'Ada', password: ADA.password });
    await app.logout([accessToken]);
    expect(await app.refresh([refreshToken])).toHaveProperty('accessToken');
  });
});
