import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { memorySessionRepository } from '../../../src/adapters/session-repository/memory.ts';
import { mikroOrmSessionRepository } from '../../../src/adapters/session-repository/mikro-orm.ts';
import { redisSessionRepository } from '../../../src/adapters/session-repository/redis.ts';
import { recoveringSessionRepository } from '../../../src/adapters/session-repository/rotation-recovery/recovering-repository.ts';
import { mikroOrmUserRepository } from '../../../src/adapters/user-repository/mikro-orm.ts';
import type { Database } from '../../../src/infrastructure/database/database.ts';
import { describeSessionRepository } from '../../contracts/session-repository.contract.ts';
import { aRotation, aSession, aUser, NOW } from '../../support/builders.ts';
import { AMPLE_BUDGET } from '../../support/rotation/ample-budget.ts';
import { redisOfTheTests } from '../../support/servers/of-the-tests.ts';
import { openEmbedded, openOnPostgresql, TEST_DATABASE_URL } from '../../support/storage/databases.ts';
import { takeRedisDatabase } from '../../support/storage/redis-databases.ts';

/** Connections that wait for a lock. */
const WAITING = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;

describeSessionRepository('memorySessionRepository', async () => ({ repository: memorySessionRepository() }));

describeSessionRepository('recoveringSessionRepository', async () => {
  const repository = recoveringSessionRepository(memorySessionRepository(), { answerBudget: 5_000 });
  return { repository, close: async () => repository.close() };
});

/** @param concurrent whether the database serves several connections at once. */
const onDatabase = (name: string, open: () => Promise<Database>, concurrent: boolean) =>
  describe(name, () => {
    let database: Database;
    beforeAll(async () => {
      database = await open();
    });
    afterAll(() => database?.close());

    const empty = async () => {
      await database.em.execute('truncate users cascade');
      const users = [aUser(), aUser()] as const;
      for (const user of users) await mikroOrmUserRepository(database.em).add(user);
      const owners = [users[0].id, users[1].id] as const;
      return { repository: mikroOrmSessionRepository(database.em, { budget: AMPLE_BUDGET }), owners, owner: owners[0] };
    };

    describeSessionRepository('mikroOrmSessionRepository', empty);

    // Proves: asvs-7.4.2
    it('loses the sessions of a user who is deleted', async () => {
      const { repository, owner } = await empty();
      const session = aSession({ userId: owner });
      await repository.add(session);
      await database.em.execute('delete from users where id = ?', [owner]);
      expect(await repository.find(session)).toBeNull();
    });

    it('purges each session once when several instances purge at the same time', async () => {
      const { repository, owner } = await empty();
      for (let count = 0; count < 40; count += 1) {
        await repository.add(aSession({ userId: owner, expiresAt: NOW - count }));
      }
      const purged = await Promise.all(Array.from({ length: 10 }, () => repository.purge(NOW, 10)));
      const rest = await repository.purge(NOW, 100);
      expect(Math.max(...purged)).toBeLessThanOrEqual(10);
      expect(purged.reduce((sum, count) => sum + count, rest)).toBe(40);
    });

    it.runIf(concurrent)('purges nothing while another instance does', async () => {
      const { repository, owner } = await empty();
      for (const age of [0, 1]) await repository.add(aSession({ userId: owner, expiresAt: NOW - age }));
      const [purged, committing] = [Promise.withResolvers<number>(), Promise.withResolvers<void>()];
      const transaction = database.em.fork().transactional(async (em) => {
        purged.resolve(await mikroOrmSessionRepository(em).purge(NOW, 1));
        await committing.promise;
      });
      expect([await purged.promise, await repository.purge(NOW, 10)]).toEqual([1, 0]);
      committing.resolve();
      await transaction;
      expect(await repository.purge(NOW, 10)).toBe(1);
    });

    it('does not rotate after the deadline by the clock of the database, and returns too-late', async () => {
      const { repository, owner } = await empty();
      const session = aSession({ userId: owner });
      await repository.add(session);
      const late = mikroOrmSessionRepository(database.em, { budget: 0 });
      expect(await late.rotate(aRotation(session))).toBe('too-late');
      expect(await repository.find(session)).toStrictEqual(session);
    });

    it('reverts a rotation that is still in progress', async () => {
      const { repository, owner } = await empty();
      const session = aSession({ userId: owner });
      await repository.add(session);
      const rotation = aRotation(session);
      const [rotated, committing] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const transaction = database.em.fork().transactional(async (em) => {
        await mikroOrmSessionRepository(em, { budget: AMPLE_BUDGET }).rotate(rotation);
        rotated.resolve();
        await committing.promise;
      });
      await rotated.promise;
      let reverted = false;
      const recovering = repository.revert(rotation).finally(() => {
        reverted = true;
      });
      const isWaiting = async () => (await database.em.execute(WAITING)).length > 0;
      while (concurrent && !reverted && !(await isWaiting()));
      committing.resolve();
      await Promise.all([transaction, recovering]);
      expect(await repository.find(session)).toMatchObject({ currentTokenId: session.currentTokenId });
    });
  });

onDatabase('on PGlite', openEmbedded, false);
const server = TEST_DATABASE_URL;
if (server !== undefined) onDatabase('on PostgreSQL', () => openOnPostgresql(server), true);

const redisServer = redisOfTheTests();
if (redisServer !== undefined) {
  describe('on Redis', () => {
    const open = async () => {
      const { url, empty } = await takeRedisDatabase(redisServer);
      const redis = new Redis(url);
      const close = async () => {
        redis.disconnect();
        await empty();
      };
      return { redis, close };
    };

    describeSessionRepository('redisSessionRepository', async () => {
      const { redis, close } = await open();
      return { repository: redisSessionRepository(redis, { budget: AMPLE_BUDGET }), expires: true, close };
    });

    const withRedis = async (test: (redis: Redis) => Promise<void>) => {
      const { redis, close } = await open();
      await test(redis).finally(close);
    };

    it('does not rotate after the deadline by the clock of Redis, and returns too-late', () =>
      withRedis(async (redis) => {
        const [repository, session] = [redisSessionRepository(redis), aSession()];
        await repository.add(session);
        const late = redisSessionRepository(redis, { budget: 0 });
        expect(await late.rotate(aRotation(session))).toBe('too-late');
        expect(await repository.find(session)).toStrictEqual(session);
      }));

    it('expires the sessions of a user with the last of them, also after a rotation', () =>
      withRedis(async (redis) => {
        const [repository, session] = [redisSessionRepository(redis), aSession()];
        const key = `tandem:sessions:${session.userId}`;
        await repository.add(session);
        expect(await redis.pexpiretime(key)).toBe(session.expiresAt);
        const rotation = aRotation(session);
        await repository.rotate(rotation);
        expect(await redis.pexpiretime(key)).toBe(rotation.expiresAt);
        await repository.revert(rotation);
        expect(await redis.pexpiretime(key)).toBe(rotation.expiresAt);

        const shorter = aSession({ userId: session.userId, expiresAt: session.expiresAt - 1_000 });
        await repository.add(shorter);
        await repository.rotate(aRotation(shorter, { expiresAt: session.expiresAt - 500 }));
        expect(await redis.pexpiretime(key)).toBe(rotation.expiresAt);
        await repository.endByUser(session.userId, shorter.id);
        expect(await redis.pexpiretime(key)).toBe(session.expiresAt - 500);
      }));

    it('removes expired sessions of a user when the next one is added', () =>
      withRedis(async (redis) => {
        const [repository, first] = [redisSessionRepository(redis), aSession()];
        const later = aSession({ userId: first.userId, createdAt: first.expiresAt, expiresAt: first.expiresAt + 1 });
        await repository.add(first);
        await repository.add(later);
        expect(await redis.hkeys(`tandem:sessions:${first.userId}`)).toEqual([later.id]);
      }));

    it('continues when Redis has lost the scripts', () =>
      withRedis(async (redis) => {
        const [repository, session] = [redisSessionRepository(redis), aSession()];
        await repository.add(session);
        await redis.script('FLUSH');
        expect(await repository.rotate(aRotation(session))).toBe('rotated');
      }));

    // Proves: theft-4
    it('tells of a failure its names alone', () =>
      withRedis(async (redis) => {
        const [repository, session] = [redisSessionRepository(redis), aSession()];
        await redis.set(`tandem:sessions:${session.userId}`, 'a secret');
        await expect(repository.find(session)).rejects.toMatchObject({
          code: 'DB_QUERY_FAILED',
          reason: 'ReplyError WRONGTYPE',
          cause: undefined,
        });
        redis.disconnect();
        const failure = { code: 'DB_QUERY_FAILED', reason: 'Error (Connection is closed.)', cause: undefined };
        await expect(repository.rotate(aRotation(session))).rejects.toMatchObject(failure);
      }));
  });
}
