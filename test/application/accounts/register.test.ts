// Proves ASVS 7.2.2
import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../../../src/adapters/records/memory.ts';
import { storageWithListeners } from '../../../src/adapters/records/storage.ts';
import type { AccountEvent } from '../../../src/domain/event.ts';
import { ADA, application, unreliable } from '../../support/application.ts';

describe('register', () => {
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
    const app = application(storageWithListeners(memoryStorage(), { onEvents }));
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
