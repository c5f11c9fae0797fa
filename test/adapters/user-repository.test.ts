import { afterAll, beforeAll, describe } from 'vitest';
import { mikroOrmUserRepository } from '../../src/adapters/user-repository/mikro-orm.ts';
import type { Database } from '../../src/infrastructure/database/database.ts';
import { absent } from '../contracts/hooks.ts';
import { describeUserRepository } from '../contracts/user-repository.contract.ts';
import {
  failingDatabase,
  openEmbedded,
  openOnPostgresql,
  type SharedDatabase,
  TEST_DATABASE_URL,
} from '../support/storage/databases.ts';

const onDatabase = (name: string, open: () => Promise<Database & Partial<SharedDatabase>>) =>
  describe(name, () => {
    let database: Awaited<ReturnType<typeof open>>;
    beforeAll(async () => {
      database = await open();
    });
    afterAll(() => database?.close());

    describeUserRepository('mikroOrmUserRepository', async () => {
      await database.em.execute('delete from users');
      const { em, openAnother } = database;
      const others: Database[] = [];
      const another = async () => {
        const other = (await openAnother?.()) ?? database;
        others.push(other);
        return mikroOrmUserRepository(other);
      };
      return {
        repository: mikroOrmUserRepository({ em }),
        another: openAnother === undefined ? absent('an embedded database serves one process') : another,
        failing: async () => mikroOrmUserRepository(failingDatabase(em)),
        close: async () => void (await Promise.all(others.map((other) => other.close()))),
      };
    });
  });

onDatabase('on PGlite', openEmbedded);
const server = TEST_DATABASE_URL;
if (server !== undefined) onDatabase('on PostgreSQL', () => openOnPostgresql(server));
