// Proves ASVS 6.2.2, 6.2.3, 7.4.3; theft-1

import { describe, expect, it } from 'vitest';
import { eventsOf } from '../../../src/application/storage/events.ts';
import type { Origin } from '../../../src/domain/event.ts';
import { ORIGIN, summaryOf } from '../../support/account.ts';
import { ADA, application, MINUTE } from '../../support/application.ts';
import { loseNextAnswer } from '../../support/transactions.ts';

const NEW_PASSWORD = 'staple battery';
const WRONG = { code: 'AUTH_CREDENTIALS_INVALID', status: 401, details: null };

/** Ada, logged in twice; `change` is requested in her first session. */
const setUp = async (given: Parameters<typeof application>[0] = {}) => {
  const app = application(given);
  const { users } = app;
  const { user, ...here } = await app.register(ADA);
  const elsewhere = await app.login({ account: 'Ada', password: ADA.password });
  const change = (
    input: { currentPassword?: string; newPassword?: string; sessionId?: string; origin?: Origin } = {},
  ) =>
    app.changePassword({
      userId: user.id,
      sessionId: here.sessionId,
      tokenIssuedAt: app.clock.now() / 1000,
      currentPassword: ADA.password,
      newPassword: NEW_PASSWORD,
      ...input,
    });
  const logIn = (password: string) => app.login({ account: 'Ada', password });
  return { app, users, user, here, elsewhere, change, logIn };
};

describe('changePassword', () => {
  it('makes the new password valid, and the old one invalid', async () => {
    const { app, users, user, change, logIn } = await setUp();
    app.clock.advance(MINUTE);
    await change();
    await expect(logIn(ADA.password)).rejects.toMatchObject(WRONG);
    expect((await logIn(NEW_PASSWORD)).user).toEqual({ ...user, updatedAt: app.clock.now() });
    expect(await users.findById(user.id)).toMatchObject({ updatedAt: app.clock.now() });
  });

  it('ends all sessions, and opens one for the caller', async () => {
    const { app, user, here, elsewhere, change } = await setUp();
    app.clock.advance(MINUTE);
    const pair = await change({ origin: ORIGIN });
    for (const { refreshToken } of [elsewhere, here])
      await expect(app.refresh([refreshToken])).rejects.toMatchObject({ code: 'AUTH_FAILED', level: 'info' });
    expect(await app.authenticate(pair.accessToken)).toMatchObject({
      ok: true,
      token: { claims: { user: { ...user, updatedAt: app.clock.now() } } },
    });
    const [opened] = await app.sessions.listByUser(user.id, app.clock.now());
    const { userAgent, address } = ORIGIN;
    expect(opened).toMatchObject({ createdAt: app.clock.now(), userAgent, address });
    expect(await app.refresh([pair.refreshToken])).toHaveProperty('accessToken');
    const happened = await eventsOf(app.records, { userId: user.id, before: null, limit: 4 });
    expect(happened.map((event) => [summaryOf(event), event.sessionId])).toEqual([
      ['session-opened', opened?.id],
      ['session-ended: replaced', here.sessionId],
      ['session-ended: password-changed', elsewhere.sessionId],
      ['password-changed', here.sessionId],
    ]);
  });

  it('has succeeded when it was kept, and the database answers again only after some time', async () => {
    const { app, user, change, logIn } = await setUp();
    loseNextAnswer(app, { isKept: true, failing: 20 });
    const { refreshToken } = await change();
    expect(await app.refresh([refreshToken])).toHaveProperty('accessToken');
    expect(await app.sessions.listByUser(user.id, app.clock.now())).toHaveLength(1);
    expect(await logIn(NEW_PASSWORD)).toHaveProperty('accessToken');
  });

  it('fails when the database does not answer for longer than a request waits', async () => {
    const { app, change } = await setUp();
    loseNextAnswer(app, { isKept: true, failing: 1_000 });
    await expect(change()).rejects.toMatchObject({ code: 'DB_QUERY_FAILED' });
  });
});
