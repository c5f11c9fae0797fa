// Proves ASVS 7.2.2
import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../../../src/adapters/records/memory.ts';
import { tellingStorage } from '../../../src/adapters/records/storage.ts';
import { AppError } from '../../../src/domain/errors/app-error.ts';
import type { AccountEvent } from '../../../src/domain/event.ts';
import { ADA, application, DAY, MINUTE, unreliable } from '../../support/application.ts';

describe('register', () => {
  it('returns the public fields of the user', async () => {
    const app = application();
    const { user } = await app.register(ADA);
    expect(user).toEqual({
      id: expect.stringMatching(/^[0-9A-Z]{26}$/),
      username: 'Ada',
      email: 'ada@example.org',
      createdAt: app.clock.now(),
      updatedAt: app.clock.now(),
    });
  });

  it('stores the user with a hash of the password', async () => {
    const app = application();
    const { user } = await app.register(ADA);
    const stored = await app.users.findById(user.id);
    expect(stored).toMatchObject(user);
    expect(stored?.passwordHash).not.toBe(ADA.password);
    expect(await app.hasher.verify(ADA.password, stored?.passwordHash ?? null)).toBe(true);
  });

  it('logs the user in with a pair of tokens of 15 minutes and 7 days', async () => {
    const app = application();
    const { user, accessToken, refreshToken } = await app.register(ADA);
    const now = app.clock.now();
    expect(await app.tokens.verifyAccess(accessToken, now)).toMatchObject({
      ok: true,
      token: { claims: { sub: user.id, user, iat: now / 1000, exp: (now + 15 * MINUTE) / 1000, tokenType: 'access' } },
    });
    expect(await app.tokens.verifyRefresh(refreshToken, now)).toMatchObject({
      ok: true,
      token: { claims: { sub: user.id, iat: now / 1000, exp: (now + 7 * DAY) / 1000, tokenType: 'refresh' } },
    });
  });

  it('gives an id of its own to the user, the session and each token', async () => {
    const app = application();
    const { user, accessToken, refreshToken } = await app.register(ADA);
    const access = await app.tokens.verifyAccess(accessToken, app.clock.now());
    const refresh = await app.tokens.verifyRefresh(refreshToken, app.clock.now());
    if (!access.ok || !refresh.ok) expect.unreachable();
    const { claims, sessionId } = refresh.token;
    expect(new Set([user.id, access.token.claims.jti, claims.jti, sessionId]).size).toBe(4);
    expect(access.token.sessionId).toBe(sessionId);
  });

  it('stores nothing when the request was aborted', async () => {
    const app = application();
    await expect(app.register(ADA, AbortSignal.abort())).rejects.toThrow();
    expect(await app.users.findByUsername(ADA.username)).toBeNull();
  });

  it('can be repeated when the session cannot be stored', async () => {
    const { users, sessions, records } = memoryStorage();
    const add = unreliable(sessions.add);
    const app = application({ users, sessions: { ...sessions, add }, records });
    add.failNext();
    await expect(app.register(ADA)).rejects.toThrow('down');
    expect(await app.users.findByEmail(ADA.email)).toBeNull();
    expect(await app.register(ADA)).toHaveProperty('accessToken');
  });

  it('can be repeated when the user was stored, but the store reports a failure', async () => {
    const { users, sessions, records } = memoryStorage();
    let failed = false;
    const app = application({
      records,
      sessions,
      users: {
        ...users,
        add: async (user) => {
          await users.add(user);
          if (failed) return;
          failed = true;
          throw new AppError('DB_QUERY_FAILED');
        },
      },
    });
    await expect(app.register(ADA)).rejects.toMatchObject({ code: 'DB_QUERY_FAILED' });
    expect(await app.register(ADA)).toHaveProperty('accessToken');
  });

  it.each(['user', 'session'] as const)(
    'leaves no user when the request is aborted while the %s is stored',
    async (stored) => {
      const request = new AbortController();
      const { users, sessions, records } = memoryStorage();
      const abortedBy =
        <Given, Result>(add: (given: Given) => Promise<Result>) =>
        async (given: Given): Promise<Result> => {
          const result = await add(given);
          request.abort();
          return result;
        };
      const app = application({
        records,
        users: stored === 'user' ? { ...users, add: abortedBy(users.add) } : users,
        sessions: stored === 'session' ? { ...sessions, add: abortedBy(sessions.add) } : sessions,
      });
      await expect(app.register(ADA, request.signal)).rejects.toThrow();
      expect(await users.findByEmail(ADA.email)).toBeNull();
    },
  );

  it('tells of the end of a user whom it has told of, when the request is aborted after that', async () => {
    const heard: string[] = [];
    const onEvents = (events: readonly AccountEvent[]) => heard.push(...events.map(({ kind }) => kind));
    const app = application(tellingStorage(memoryStorage(), { onEvents }));
    const throwIfAborted = () => {
      if (heard.length > 0) throw new Error('too late');
    };
    await expect(app.register(ADA, { throwIfAborted })).rejects.toThrow('too late');
    expect(heard).toEqual(['registered', 'session-ended', 'deleted']);
    expect(await app.users.findByEmail(ADA.email)).toBeNull();
  });

  it('returns the error of the store when the user cannot be removed either', async () => {
    const { users, sessions, records } = memoryStorage();
    const [add, remove] = [unreliable(sessions.add), unreliable(users.remove)];
    const app = application({ sessions: { ...sessions, add }, users: { ...users, remove }, records });
    add.failNext();
    remove.failNext();
    await expect(app.register(ADA)).rejects.toThrow('down');
    expect(await app.login({ account: ADA.username, password: ADA.password })).toHaveProperty('accessToken');
  });
});
