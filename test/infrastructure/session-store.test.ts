import { Redis } from 'ioredis';
import { describe, expect, it, onTestFinished } from 'vitest';
import { memorySessionRepository } from '../../src/adapters/session-repository/memory.ts';
import { AppError } from '../../src/domain/errors/app-error.ts';
import { openSessionStore } from '../../src/infrastructure/compose/session-store.ts';
import { createLogger } from '../../src/infrastructure/logging/logger.ts';
import { aRotation, aSession } from '../support/builders.ts';
import { blockEventLoop } from '../support/processes/block-event-loop.ts';
import { freePort } from '../support/servers/free-port.ts';
import { redisOfTheTests } from '../support/servers/of-the-tests.ts';
import { takeRedisDatabase } from '../support/storage/redis-databases.ts';

const logger = createLogger({ level: 'silent', environment: 'test', version: 'test' }, () => ({}));
const LONGER_THAN_ANY_TIMEOUT = 2_500;
const IN_DATABASE = { sessionStore: 'database', redisUrls: [], requestTimeout: 30_000 } as const;
const UNUSED = { rotationBudget: 5_000, sessionsWithin: () => memorySessionRepository() };

describe('the session store', () => {
  it.each([
    [30_000, 5_000],
    [1_000, 500],
  ])('of requests that have %i ms gives a rotation in the database %i ms', async (requestTimeout, expected) => {
    const budgets: number[] = [];
    const sessionsWithin = ({ budget }: { budget: number }) => {
      budgets.push(budget);
      return memorySessionRepository();
    };
    const inDatabase = { rotationBudget: 5_000, sessionsWithin };
    const store = await openSessionStore({ ...IN_DATABASE, requestTimeout }, inDatabase, logger);
    onTestFinished(store.close);
    expect(budgets).toEqual([expected]);
    expect(store.checks).toEqual([]);
  });

  it('holds a session whose rotation failed until that is taken back', async () => {
    const rotate = () => Promise.reject(new AppError('DB_QUERY_FAILED', { reason: 'away' }));
    const sessionsWithin = () => ({ ...memorySessionRepository(), rotate });
    const store = await openSessionStore(IN_DATABASE, { rotationBudget: 5_000, sessionsWithin }, logger);
    onTestFinished(store.close);
    const session = aSession();
    await expect(store.sessions.rotate(aRotation(session))).rejects.toMatchObject({ reason: 'away' });
    await expect(store.sessions.rotate(aRotation(session))).rejects.toMatchObject({
      code: 'DB_QUERY_FAILED',
      reason: expect.stringContaining('unconfirmed'),
    });
  });

  it('does not open without its Redis, and names the variable and nothing of its value', async () => {
    const url = `redis://user:password@127.0.0.1:${await freePort()}`;
    for (const redisUrls of [[url], [url, url]]) {
      const opening = openSessionStore({ ...IN_DATABASE, sessionStore: 'redis', redisUrls }, UNUSED, logger);
      await expect(opening).rejects.toThrow(
        /^The Redis of REDIS_URL cannot be reached: (?:Error ECONNREFUSED|ClusterAllFailedError)$/,
      );
    }
  });

  const server = redisOfTheTests();
  it.runIf(server !== undefined)('in Redis keeps sessions there, and is up for as long as it is open', async () => {
    const { url, empty } = await takeRedisDatabase(server ?? '');
    onTestFinished(empty);
    const redis = new Redis(url);
    onTestFinished(() => redis.disconnect());
    const settings = { ...IN_DATABASE, sessionStore: 'redis', redisUrls: [url] } as const;
    const { sessions, checks, close } = await openSessionStore(settings, UNUSED, logger);

    const session = aSession();
    await sessions.add(session);
    expect(await sessions.rotate(aRotation(session))).toBe('rotated');
    expect(await redis.keys('*')).toEqual([`tandem:sessions:${session.userId}`]);

    const [check] = checks;
    expect(check).toMatchObject({ name: 'sessions', required: true });
    await check?.ping();
    close();
    await expect(check?.ping()).rejects.toThrow();
    await expect(sessions.find(session)).rejects.toMatchObject({ code: 'DB_QUERY_FAILED' });
  });

  it.runIf(server !== undefined)(
    'in Redis has rotated what Redis has answered, though this process read it late',
    async () => {
      const { url, empty } = await takeRedisDatabase(server ?? '');
      onTestFinished(empty);
      const settings = { sessionStore: 'redis', redisUrls: [url], requestTimeout: 1_000 } as const;
      const { sessions, close } = await openSessionStore(settings, UNUSED, logger);
      onTestFinished(close);
      const session = aSession();
      await sessions.add(session);
      const [first, second] = [aRotation(session), aRotation(session)];
      // From the first one on, the time of Redis is known: the second is sent at once.
      expect(await sessions.rotate(first)).toBe('rotated');
      const rotated = sessions.rotate({ ...second, from: first.to });
      for (let microtask = 0; microtask < 20; microtask += 1) await null;
      blockEventLoop(LONGER_THAN_ANY_TIMEOUT);
      expect(await rotated).toBe('rotated');
      expect(await sessions.rotate(aRotation(session, { from: second.to }))).toBe('rotated');
    },
  );
});
