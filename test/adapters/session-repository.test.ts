import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { memorySessionRepository } from '../../src/adapters/session-repository/memory.ts';
import { mikroOrmSessionRepository } from '../../src/adapters/session-repository/mikro-orm.ts';
import { mikroOrmUserRepository } from '../../src/adapters/user-repository/mikro-orm.ts';
import type { Database } from '../../src/infrastructure/database.ts';
import { describeSessionRepository } from '../contracts/session-repository.contract.ts';
import { aSession, aUser, NOW } from '../support/builders.ts';
import { openEmbedded, openOnPostgresql, TEST_DATABASE_URL } from '../support/databases.ts';

describeSessionRepository('memorySessionRepository', async () => ({ repository: memorySessionRepository() }));

const onDatabase = (name: string, open: () => Promise<Database>) =>
  describe(name, () => {
    let database: Database;
    beforeAll(async () => {
      database = await open();
    });
    afterAll(() => database?.close());

    const empty = async () => {
      await database.em.execute('truncate users cascade');
      const owner = aUser();
      await mikroOrmUserRepository(database.em).add(owner);
      return { repository: mikroOrmSessionRepository(database.em), owner: owner.id };
    };

    describeSessionRepository('mikroOrmSessionRepository', empty);

    it('loses the sessions of a user who is deleted', async () => {
      const { repository, owner } = await empty();
      const session = aSession({ userId: owner });
      await repository.add(session);
      await database.em.execute('delete from users where id = ?', [owner]);
      expect(await repository.find(session.id)).toBeNull();
    });

    it('purges each session once, whatever number of instances purge at the same time', async () => {
      const { repository, owner } = await empty();
      for (let count = 0; count < 40; count += 1) {
        await repository.add(aSession({ userId: owner, expiresAt: NOW - count }));
      }
      const purged = await Promise.all(Array.from({ length: 10 }, () => repository.purge(NOW, 10)));
      const rest = await repository.purge(NOW, 100);
      expect(Math.max(...purged)).toBeLessThanOrEqual(10);
      expect(purged.reduce((sum, count) => sum + count, rest)).toBe(40);
    });
  });

onDatabase('on PGlite', openEmbedded);
const server = TEST_DATABASE_URL;
if (server !== undefined) onDatabase('on PostgreSQL', () => openOnPostgresql(server));
