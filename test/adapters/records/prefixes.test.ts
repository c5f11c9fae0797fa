import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { absent } from '../../contracts/hooks.ts';
import { describeRecords } from '../../contracts/records.contract.ts';
import { createDatabase, onPostgresql, onSqlite, TEST_DATABASE_URL } from '../../support/storage/databases.ts';
import { type Database, openDatabase } from '../../support/storage/open-database.ts';
import { temporaryDirectory } from '../../support/storage/temporary-directory.ts';

/** The longest one: names that PostgreSQL cuts to 63 bytes would not be distinct. */
const PREFIX = `a${'_'.repeat(29)}z`;
const TABLES = ['users', 'outbox', 'mailboxes', 'used_values', 'operations'];

/** A database with a table `users` of somebody else. */
type Shared = {
  readonly open: (prefix: string) => Promise<Database>;
  readonly untilOneWaits: (database: Database) => Promise<unknown>;
  /** Lists the names of everything in the schema that has one. */
  readonly names: string;
  readonly remove: () => Promise<void> | void;
};

const inFile = async (): Promise<Shared> => {
  const { path, remove } = temporaryDirectory();
  return {
    open: (prefix) =>
      openDatabase({ ...onSqlite(join(path, 'shared.sqlite')), tablePrefix: prefix }, { migrate: true }),
    untilOneWaits: () => setImmediate(),
    names: `select name from sqlite_schema where name not like 'sqlite_autoindex_%'`,
    remove,
  };
};

const WAITING = `select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
const onServer = async (): Promise<Shared> => {
  const { url, drop } = await createDatabase(TEST_DATABASE_URL ?? '');
  return {
    open: (prefix) => openDatabase({ ...onPostgresql(url), tablePrefix: prefix }, { migrate: true }),
    untilOneWaits: ({ em }) => expect.poll(async () => (await em.execute(WAITING)).length).toBe(1),
    names: `select relname as name from pg_class where relnamespace = 'public'::regnamespace
      union select conname from pg_constraint where connamespace = 'public'::regnamespace and contype <> 'n'`,
    remove: drop,
  };
};

describe.each([
  { on: 'SQLite', share: inFile, isHere: true },
  { on: 'PostgreSQL', share: onServer, isHere: TEST_DATABASE_URL !== undefined },
])('beside the tables of another application, on $on', ({ share, isHere }) => {
  describe.runIf(isHere)('with a prefix', () => {
    let shared: Shared;
    let [database, others]: [Database, Database] | [] = [];
    const opened = (each = database): Database => each ?? expect.unreachable();
    beforeAll(async () => {
      shared = await share();
      const first = await shared.open('other_');
      await first.em.execute('create table users (id integer)');
      await first.em.execute('insert into users values (1)');
      [database, others] = [await shared.open(PREFIX), first];
    });
    afterAll(async () => {
      await database?.close();
      await others?.close();
      await shared?.remove();
    });

    describeRecords('mikroOrmRecords', async () => {
      for (const table of TABLES) await opened().em.execute(`delete from ${PREFIX}${table}`);
      return {
        records: opened().records,
        another: absent('as without a prefix'),
        failing: absent('as without a prefix'),
        untilOneWaits: () => shared.untilOneWaits(opened()),
      };
    });

    it('gives everything a name that begins with it, and leaves the rest alone', async () => {
      const { em } = opened();
      const names = (await em.execute<{ name: string }[]>(shared.names)).map(({ name }) => name);
      expect(names.length).toBeGreaterThan(50);
      expect(names.filter((name) => ![PREFIX, 'other_'].some((prefix) => name.startsWith(prefix)))).toEqual(['users']);
      expect(new Set(names.map((name) => name.replace(PREFIX, 'other_'))).size).toBe((names.length - 1) / 2 + 1);
      expect(await em.execute('select * from users')).toEqual([{ id: 1 }]);
    });
  });
});
