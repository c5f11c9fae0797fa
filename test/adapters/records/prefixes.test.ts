import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { violates } from '../../../src/application/storage/records.ts';
import { rejection } from '../../contracts/hooks.ts';
import { aUserRow } from '../../contracts/records/database.ts';
import { createDatabase, onPostgresql, onSqlite, TEST_DATABASE_URL } from '../../support/storage/databases.ts';
import { type Database, openDatabase } from '../../support/storage/open-database.ts';
import { temporaryDirectory } from '../../support/storage/temporary-directory.ts';

/** The longest one: names that PostgreSQL cuts to 63 bytes would not be distinct. */
const PREFIX = `a${'_'.repeat(29)}z`;

/** A database with a table `users` of somebody else. */
type Shared = {
  readonly open: (prefix: string) => Promise<Database>;
  /** Lists the names of everything in the schema that has one. */
  readonly names: string;
  readonly remove: () => Promise<void> | void;
};

const inFile = async (): Promise<Shared> => {
  const { path, remove } = temporaryDirectory();
  return {
    open: (prefix) =>
      openDatabase({ ...onSqlite(join(path, 'shared.sqlite')), tablePrefix: prefix }, { migrate: true }),
    names: `select name from sqlite_schema where name not like 'sqlite_autoindex_%'`,
    remove,
  };
};

const onServer = async (): Promise<Shared> => {
  const { url, drop } = await createDatabase(TEST_DATABASE_URL ?? '');
  return {
    open: (prefix) => openDatabase({ ...onPostgresql(url), tablePrefix: prefix }, { migrate: true }),
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

    it('names the indexes that rows violate as without one', async () => {
      const { records } = opened();
      const user = aUserRow();
      await records.insert('users', user);
      for (const [second, index] of [
        [aUserRow({ id: user.id }), 'users_pkey'],
        [aUserRow({ email: user.email }), 'users_email'],
      ] as const)
        expect(violates(await rejection(records.insert('users', second)), index)).toBe(true);
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
