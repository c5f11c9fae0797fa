// Proves ASVS 8.2.2; theft-1, member-1
import { describe, expect, it } from 'vitest';
import { endOtherSessions } from '../../../src/application/sessions/manage-sessions.ts';
import { eventsOf, listEnded } from '../../../src/application/storage/events.ts';
import { NO_ORIGIN } from '../../../src/domain/event.ts';
import { SESSIONS_PER_USER } from '../../../src/domain/session.ts';
import { BOB, EMAIL, ORIGIN, registeredAda, summaryOf, TOKEN_INVALID } from '../../support/account.ts';
import { ADA, application, DAY, MINUTE, rejections } from '../../support/application.ts';

const LAPTOP = { userAgent: 'a laptop', address: '192.0.2.0/24' };
const PHONE = { userAgent: 'a phone', address: '2001:db8::/48' };

/** Ada, who registered on a laptop and logged in on a phone a minute later. */
const setUp = async () => {
  const app = application();
  const { user, ...laptop } = await app.register({ ...ADA, origin: { ...LAPTOP, requestId: null } });
  app.clock.advance(MINUTE);
  const phone = await app.login({ account: 'Ada', password: ADA.password, origin: { ...PHONE, requestId: null } });
  const caller = { userId: user.id, sessionId: laptop.sessionId };
  const listed = async () =>
    (await app.sessions.listByUser(user.id, app.clock.now())).map(({ userAgent }) => userAgent);
  const happened = () => eventsOf(app.records, { userId: user.id, before: null, limit: 100 });
  return { app, user, laptop, phone, caller, listed, happened };
};

describe('listSessions', () => {
  it('returns device and times of each live session, and which is the current one', async () => {
    const { app, caller, laptop, phone } = await setUp();
    const [now, kept] = [app.clock.now(), { binding: 'none', remembered: false }];
    const before = now - MINUTE;
    expect(await app.listSessions(caller)).toStrictEqual([
      { id: phone.sessionId, createdAt: now, lastUsedAt: now, ...PHONE, ...kept, current: false },
      { id: laptop.sessionId, createdAt: before, lastUsedAt: before, ...LAPTOP, ...kept, current: true },
    ]);
  });

  it('leaves out expired sessions, and those of other users', async () => {
    const { app, caller, phone } = await setUp();
    await app.register(BOB);
    app.clock.advance(7 * DAY - MINUTE);
    expect(await app.listSessions({ ...caller, sessionId: phone.sessionId })).toMatchObject([{ id: phone.sessionId }]);
  });
});

describe('endOwnSession', () => {
  it('ends the given session, and rejects when it has already ended', async () => {
    const { app, caller, laptop, phone, listed } = await setUp();
    await app.endOwnSession(caller, phone.sessionId);
    await expect(app.refresh([phone.refreshToken])).rejects.toMatchObject({ code: 'AUTH_FAILED', level: 'info' });
    expect(await listed()).toEqual(['a laptop']);
    expect(await app.refresh([laptop.refreshToken])).toHaveProperty('accessToken');
    await expect(app.endOwnSession(caller, phone.sessionId)).rejects.toMatchObject({
      code: 'DB_RECORD_NOT_FOUND',
      status: 404,
    });
  });

  it('records once who ended it, and nothing about a session that the user does not have', async () => {
    const { app, caller, phone, happened } = await setUp();
    const bob = await app.register(BOB);
    await app.endOwnSession(caller, phone.sessionId, ORIGIN);
    const [ending] = await happened();
    expect(ending).toMatchObject({ kind: 'session-ended', reason: 'ended-by-user', sessionId: phone.sessionId });
    expect(ending).toMatchObject(ORIGIN);
    for (const id of [phone.sessionId, bob.sessionId]) {
      await expect(app.endOwnSession(caller, id)).rejects.toThrow();
    }
    expect(await happened()).toHaveLength(3);
  });
});

it('endAllSessions ends every session of the user, and none of other users', async () => {
  const { app, caller, laptop, phone, listed } = await setUp();
  const bob = await app.register(BOB);
  await app.endAllSessions(caller);
  expect(await listed()).toEqual([]);
  for (const { refreshToken } of [laptop, phone]) {
    await expect(app.refresh([refreshToken])).rejects.toMatchObject({ code: 'AUTH_FAILED', level: 'info' });
  }
  expect(await app.refresh([bob.refreshToken])).toHaveProperty('accessToken');
});

describe('endOtherSessions', () => {
  it('ends every session of the user, and opens one for the caller', async () => {
    const { app, user, laptop, phone, listed, happened } = await setUp();
    const key = { userId: user.id, sessionId: laptop.sessionId };
    const ending = { ...key, presented: [laptop.refreshToken], origin: ORIGIN };
    const opened = (await app.endOtherSessions(ending)) ?? expect.unreachable();
    for (const { refreshToken } of [laptop, phone])
      await expect(app.refresh([refreshToken])).rejects.toMatchObject({ code: 'AUTH_FAILED', level: 'info' });
    expect(await listed()).toEqual([ORIGIN.userAgent]);
    expect(await app.authenticate(opened.accessToken)).toMatchObject({ ok: true, token: { claims: { user } } });
    expect(await app.refresh([opened.refreshToken])).toHaveProperty('accessToken');
    expect((await happened()).slice(0, 3).map(summaryOf)).toEqual([
      'session-opened',
      'session-ended: replaced',
      'session-ended: all-ended',
    ]);
  });

  it.each([
    ['a device that is new', ORIGIN, [`new-device to ${EMAIL}`]],
    ['no device that is known', NO_ORIGIN, []],
  ])('tells the user of %s', async (_what, origin, mails) => {
    const { app, user, session, pending } = await registeredAda();
    const { sessionId, refreshToken } = session;
    await endOtherSessions(app)({ userId: user.id, sessionId, presented: [refreshToken], origin });
    expect(await pending()).toEqual(mails);
  });

  it('needs a refresh token of the session that is good for a refresh: an access token alone opens no session', async () => {
    const { app, user, laptop, phone, listed } = await setUp();
    const { refreshToken } = await app.refresh([laptop.refreshToken]);
    const key = { userId: user.id, sessionId: laptop.sessionId };
    for (const presented of [[], ['forged'], [phone.refreshToken], [laptop.refreshToken]])
      await expect(app.endOtherSessions({ ...key, presented })).rejects.toMatchObject({ code: 'AUTH_FAILED' });
    expect(await listed()).toHaveLength(2);
    await app.endOtherSessions({ ...key, presented: [laptop.refreshToken, refreshToken] });
    expect(await listed()).toHaveLength(1);
  });

  it('has no effect once it is cancelled', async () => {
    const { app, user, laptop, listed } = await setUp();
    const ending = { userId: user.id, sessionId: laptop.sessionId, presented: [laptop.refreshToken] };
    await expect(endOtherSessions(app)(ending, AbortSignal.abort(new Error('too late')))).rejects.toThrow('too late');
    expect(await listed()).toHaveLength(2);
  });
});

it('a session that ends all others is not ended by another that does so at the same time, which is refused', async () => {
  const { app, user, laptop, phone } = await setUp();
  const ends = [laptop, phone].map(({ sessionId, refreshToken }) =>
    app.endOtherSessions({ userId: user.id, sessionId, presented: [refreshToken] }),
  );
  expect(await rejections(ends)).toEqual([expect.objectContaining(TOKEN_INVALID)]);
  expect(await app.sessions.listByUser(user.id, app.clock.now())).toHaveLength(1);
});

it('a log-in of a user who has as many sessions as possible ends the one that was used longest ago, and says so', async () => {
  const { app, laptop, happened } = await setUp();
  for (let open = 2; open <= SESSIONS_PER_USER; open += 1) await app.login({ account: 'Ada', password: ADA.password });
  const ended = (await happened()).filter(({ kind }) => kind === 'session-ended');
  expect(ended).toMatchObject([{ sessionId: laptop.sessionId, reason: 'evicted' }]);
  expect(await listEnded(app.records, 0, 9)).toMatchObject([{ sessionId: laptop.sessionId }]);
});
