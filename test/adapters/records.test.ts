import { afterAll, beforeAll, describe } from 'vitest';
import { randomLinkTokens } from '../../src/adapters/link-tokens/random.ts';
import type { Database } from '../../src/infrastructure/database/database.ts';
import { sqlStores } from '../../src/infrastructure/storages/sql.ts';
import { absent } from '../contracts/hooks.ts';
import { describeLinkTokens } from '../contracts/link-tokens.contract.ts';
import { describeRecords } from '../contracts/records.ts';
import { aUser } from '../support/builders.ts';
import {
  failingDatabase,
  openEmbedded,
  openOnPostgresql,
  type SharedDatabase,
  TEST_DATABASE_URL,
} from '../support/storage/databases.ts';

describeLinkTokens('randomLinkTokens', randomLinkTokens);

const onDatabase = (name: string, open: () => Promise<Database & Partial<SharedDatabase>>) =>
  describe(name, () => {
    let database: Awaited<ReturnType<typeof open>>;
    beforeAll(async () => {
      database = await open();
    });
    afterAll(() => database?.close());

    describeRecords('in SQL', async (name) => {
      await database.em.execute(
        'with a as (delete from users), b as (delete from outbox), c as (delete from mailboxes) delete from used_values',
      );
      const stores = sqlStores(database);
      const users = [aUser(), aUser()] as const;
      for (const user of users) await stores.users.add(user);
      const others: Database[] = [];
      const openAnother = async () => {
        const other = (await database.openAnother?.()) ?? database;
        others.push(other);
        return sqlStores(other)[name];
      };
      return {
        repository: stores[name],
        owners: [users[0].id, users[1].id],
        another: database.openAnother === undefined ? absent('an embedded database serves one process') : openAnother,
        failing: async () => sqlStores(failingDatabase(database.em))[name],
        deleteUser: (id) => stores.users.remove(id),
        close: async () => void (await Promise.all(others.map((other) => other.close()))),
      };
    });
  });

onDatabase('on PGlite', openEmbedded);
const server = TEST_DATABASE_URL;
if (server !== undefined) onDatabase('on PostgreSQL', () => openOnPostgresql(server));
