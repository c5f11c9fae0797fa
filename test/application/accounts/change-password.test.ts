import { describe, expect, it } from 'vitest';
import type { TokenPair } from '../../../src/application/sessions/tokens.ts';
import type { Origin } from '../../../src/domain/event.ts';
import { ENDED, inShort, ORIGIN } from '../../support/account.ts';
import { ADA, application, MINUTE, rejections } from '../../support/application.ts';
import { beforeNextTransaction, expectAllOrNothing, loseNextAnswer } from '../../support/transactions.ts';

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
    const happened = await app.events.list({ userId: user.id, before: null, limit: 4 });
    expect(happened.map((event) => [inShort(event), event.sessionId])).toEqual([
      ['session-opened', opened?.id],
      ['session-ended: replaced', here.sessionId],
      ['session-ended: password-changed', elsewhere.sessionId],
      ['password-changed', here.sessionId],
    ]);
  });

  it('changes all or nothing', async () => {
    const { app, user, change } = await setUp();
    const stored = [
      () => app.users.findById(user.id),
      () => app.sessions.listByUser(user.id, app.clock.now()),
      () => app.events.list({ userId: user.id, before: null, limit: 100 }),
    ];
    await expectAllOrNothing(app, () => Promise.all(stored.map((state) => state())), change);
  });

  it('changes nothing when the current password is wrong', async () => {
    const { app, elsewhere, change, logIn } = await setUp();
    for (const currentPassword of ['wrong horse', '', NEW_PASSWORD]) {
      await expect(change({ currentPassword })).rejects.toMatchObject(WRONG);
    }
    expect(await logIn(ADA.password)).toHaveProperty('accessToken');
    expect(await app.refresh([elsewhere.refreshToken])).toHaveProperty('accessToken');
  });

  it('stores the time of the change, and does not return it', async () => {
    const { app, users, user, change, logIn } = await setUp();
    app.clock.advance(MINUTE);
    await change();
    expect(await users.findById(user.id)).toMatchObject({ passwordChangedAt: app.clock.now() });
    expect((await logIn(NEW_PASSWORD)).user).not.toHaveProperty('passwordChangedAt');
  });

  it('rejects a new password that is easy to guess, and names the field', async () => {
    const { change, logIn } = await setUp({ isCommonPassword: (password) => password === 'password1' });
    for (const newPassword of ['password1', 'Ada@Example.org']) {
      await expect(change({ newPassword })).rejects.toMatchObject({
        code: 'CLIENT_PARAMS_VALIDATION_FAILED',
        details: [{ field: 'newPassword', code: 'too_common' }],
      });
    }
    expect(await logIn(ADA.password)).toHaveProperty('accessToken');
  });

  it('changes nothing when the request was aborted', async () => {
    const { app, user, here, elsewhere, logIn } = await setUp();
    const input = { userId: user.id, sessionId: here.sessionId, tokenIssuedAt: 0 };
    const passwords = { currentPassword: ADA.password, newPassword: NEW_PASSWORD };
    await expect(app.changePassword({ ...input, ...passwords }, AbortSignal.abort())).rejects.toThrow();
    expect(await logIn(ADA.password)).toHaveProperty('accessToken');
    expect(await app.refresh([elsewhere.refreshToken])).toHaveProperty('accessToken');
  });

  it('has succeeded when it was kept, and the answer to its commit is lost', async () => {
    const { app, user, change, logIn } = await setUp();
    loseNextAnswer(app, { isKept: true });
    const { refreshToken } = await change();
    expect(await app.refresh([refreshToken])).toHaveProperty('accessToken');
    expect(await app.sessions.listByUser(user.id, app.clock.now())).toHaveLength(1);
    expect(await logIn(NEW_PASSWORD)).toHaveProperty('accessToken');
  });

  it('has succeeded when it was kept, and the database answers again only after some time', async () => {
    const { app, change, logIn } = await setUp();
    loseNextAnswer(app, { isKept: true, failing: 20 });
    const { refreshToken } = await change();
    expect(await app.refresh([refreshToken])).toHaveProperty('accessToken');
    expect(await logIn(NEW_PASSWORD)).toHaveProperty('accessToken');
  });

  it('fails when the database does not answer for longer than a request waits', async () => {
    const { app, change } = await setUp();
    loseNextAnswer(app, { isKept: true, failing: 1_000 });
    await expect(change()).rejects.toMatchObject({ code: 'DB_QUERY_FAILED' });
  });

  it('can be repeated when it was not kept', async () => {
    const { app, elsewhere, change, logIn } = await setUp();
    loseNextAnswer(app, { isKept: false });
    await expect(change()).rejects.toMatchObject({ code: 'DB_QUERY_FAILED' });
    expect(await app.refresh([elsewhere.refreshToken])).toHaveProperty('accessToken');
    await change();
    expect(await logIn(NEW_PASSWORD)).toHaveProperty('accessToken');
  });

  it('can be repeated when the request is aborted while it is carried out', async () => {
    const { app, user, here, change, logIn } = await setUp();
    const request = new AbortController();
    beforeNextTransaction(app, async () => request.abort());
    const input = { userId: user.id, sessionId: here.sessionId, tokenIssuedAt: 0 };
    const passwords = { currentPassword: ADA.password, newPassword: NEW_PASSWORD };
    await expect(app.changePassword({ ...input, ...passwords }, request.signal)).rejects.toThrow();
    await change();
    expect(await logIn(NEW_PASSWORD)).toHaveProperty('accessToken');
  });

  it('lets one of two concurrent changes succeed, which has the only session', async () => {
    const { app, user, here, elsewhere, change, logIn } = await setUp();
    const changes = [here, elsewhere].map(({ sessionId }, at) =>
      change({ sessionId, newPassword: `new password ${at}` }),
    );
    const outcomes = await Promise.allSettled(changes);
    const winner = outcomes.findIndex(({ status }) => status === 'fulfilled');
    expect(await rejections(changes)).toEqual([expect.objectContaining(ENDED)]);
    expect(await app.sessions.listByUser(user.id, app.clock.now())).toHaveLength(1);
    expect(await logIn(`new password ${winner}`)).toHaveProperty('accessToken');
  });

  it('changes nothing when the session ends while the new password is hashed', async () => {
    const { app, user, here, change, logIn } = await setUp();
    const { hash } = app.hasher;
    app.hasher.hash = async (password) => {
      await app.sessions.end({ id: here.sessionId, userId: user.id });
      return hash(password);
    };
    await expect(change()).rejects.toMatchObject(ENDED);
    expect(await logIn(ADA.password)).toHaveProperty('accessToken');
  });

  it('succeeds even if a log-in rehashes the same password at the same time', async () => {
    const { app, users, user, change, logIn } = await setUp();
    const { hash } = app.hasher;
    app.hasher.hash = async (password) => {
      app.hasher.hash = hash;
      const passwordHash = await hash(ADA.password);
      await users.setPasswordHash(user.id, { passwordHash, isOfNewPassword: false, now: app.clock.now() });
      return hash(password);
    };
    await change();
    expect(await logIn(NEW_PASSWORD)).toHaveProperty('accessToken');
  });
});

describe('a log-in with the old password, under way while the password is changed', () => {
  /** @param when the change happens: just before the log-in stores its session, or just after. */
  const race = async (when: 'before' | 'after') => {
    const { app, user, change, logIn } = await setUp();
    const { run } = app.transactions;
    let pair: TokenPair | undefined;
    app.transactions.run = async (work) => {
      app.transactions.run = run;
      if (when === 'before') pair = await change();
      const result = await run(work);
      if (when === 'after') pair = await change();
      return result;
    };
    const outcome = await logIn(ADA.password).catch((error: unknown) => error);
    expect(await app.sessions.listByUser(user.id, app.clock.now())).toHaveLength(1);
    expect(await app.refresh([pair?.refreshToken ?? ''])).toHaveProperty('accessToken');
    return outcome;
  };

  it('fails when the password is changed before the session is stored', async () => {
    expect(await race('before')).toMatchObject(WRONG);
  });

  it('loses its session when the password is changed afterwards', async () => {
    expect(await race('after')).toHaveProperty('refreshToken');
  });
});
