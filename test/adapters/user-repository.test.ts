import { afterAll, beforeAll, describe } from 'vitest';
import { memoryUserRepository } from '../../src/adapters/user-repository/memory.ts';
import { mikroOrmUserRepository } from '../../src/adapters/user-repository/mikro-orm.ts';
import type { Database } from '../../src/infrastructure/database/database.ts';
import { describeUserRepository } from '../contracts/user-repository.contract.ts';
import { openEmbedded, openOnPostgresql, TEST_DATABASE_URL } from '../support/storage/databases.ts';

describeUserRepository('memoryUserRepository', async () => ({ repository: memoryUserRepository() }));

const onDatabase = (name: string, open: () => Promise<Database>) =>
  describe(name, () => {
    let database: Database;
    beforeAll(async () => {
      database = await open();
    });
    afterAll(() => database?.close());

    describeUserRepository('mikroOrmUserRepository', async () => {
      await database.em.execute('truncate users cascade');
      return { repository: mikroOrmUserRepository(database.em) };
    });
  });

onDatabase('on PGlite', openEmbedded);
const server = TEST_DATABASE_URL;
if (server !== undefined) onDatabase('on PostgreSQL', () => openOnPostgresql(server));
