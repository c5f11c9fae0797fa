import { afterAll, beforeAll, describe } from 'vitest';
import { memoryEventRepository } from '../../src/adapters/event-repository/memory.ts';
import { mikroOrmEventRepository } from '../../src/adapters/event-repository/mikro-orm.ts';
import { memoryLinkRepository } from '../../src/adapters/link-repository/memory.ts';
import { mikroOrmLinkRepository } from '../../src/adapters/link-repository/mikro-orm.ts';
import { randomLinkTokens } from '../../src/adapters/link-tokens/random.ts';
import type { Statements } from '../../src/adapters/mikro-orm/transaction.ts';
import { memoryOutbox } from '../../src/adapters/outbox/memory.ts';
import { mikroOrmOutbox } from '../../src/adapters/outbox/mikro-orm.ts';
import { mikroOrmUserRepository } from '../../src/adapters/user-repository/mikro-orm.ts';
import type { Database } from '../../src/infrastructure/database/database.ts';
import { describeEventRepository } from '../contracts/event-repository.contract.ts';
import { absent } from '../contracts/hooks.ts';
import { describeLinkRepository } from '../contracts/link-repository.contract.ts';
import { describeLinkTokens } from '../contracts/link-tokens.contract.ts';
import { describeOutbox } from '../contracts/outbox.contract.ts';
import type { RecordsStore } from '../contracts/records/store.ts';
import { anId, aUser } from '../support/builders.ts';
import {
  failingEm,
  openEmbedded,
  openOnPostgresql,
  type SharedDatabase,
  TEST_DATABASE_URL,
} from '../support/storage/databases.ts';

describeLinkTokens('randomLinkTokens', randomLinkTokens);

const inMemory = <Port>(
  open: (has: (id: string) => boolean) => Port,
  deleteUser: (repository: Port, id: string) => void,
) => {
  return async (): Promise<RecordsStore<Port>> => {
    const owners = [anId(), anId()] as const;
    const users = new Set<string>(owners);
    const repository = open((id) => users.has(id));
    return {
      repository,
      owners,
      another: absent('one process has its records to itself'),
      failing: absent('memory does not fail'),
      deleteUser: async (id) => {
        users.delete(id);
        deleteUser(repository, id);
      },
    };
  };
};

describeEventRepository(
  'memoryEventRepository',
  inMemory(memoryEventRepository, (events, id) => events.removeOfUser(id)),
);
describeLinkRepository(
  'memoryLinkRepository',
  inMemory(
    () => memoryLinkRepository(),
    (links, id) => links.removeAllOfUser(id),
  ),
);
describeOutbox(
  'memoryOutbox',
  inMemory(
    () => memoryOutbox(),
    (outbox, id) => outbox.removeOfUser(id),
  ),
);

const onDatabase = (name: string, open: () => Promise<Database & Partial<SharedDatabase>>) =>
  describe(name, () => {
    let database: Awaited<ReturnType<typeof open>>;
    beforeAll(async () => {
      database = await open();
    });
    afterAll(() => database?.close());

    const over =
      <Port>(repositoryOver: (statements: Statements) => Port) =>
      async (): Promise<RecordsStore<Port>> => {
        const { em, openAnother } = database;
        await em.execute('truncate users, outbox, mailboxes cascade');
        const users = [aUser(), aUser()] as const;
        for (const user of users) await mikroOrmUserRepository(em).add(user);
        const others: Database[] = [];
        const another = async () => {
          const other = (await openAnother?.()) ?? database;
          others.push(other);
          return repositoryOver(other.em);
        };
        return {
          repository: repositoryOver(em),
          owners: [users[0].id, users[1].id],
          another: openAnother === undefined ? absent('an embedded database serves one process') : another,
          failing: async () => repositoryOver(failingEm(em)),
          deleteUser: (id) => mikroOrmUserRepository(em).remove(id),
          close: async () => void (await Promise.all(others.map((other) => other.close()))),
        };
      };

    describeEventRepository('mikroOrmEventRepository', over(mikroOrmEventRepository));
    describeLinkRepository('mikroOrmLinkRepository', over(mikroOrmLinkRepository));
    describeOutbox('mikroOrmOutbox', over(mikroOrmOutbox));
  });

onDatabase('on PGlite', openEmbedded);
const server = TEST_DATABASE_URL;
if (server !== undefined) onDatabase('on PostgreSQL', () => openOnPostgresql(server));
