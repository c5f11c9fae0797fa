import { beforeAll, describe, expect, it } from 'vitest';
import { violates } from '../../../src/application/storage/records.ts';
import { rejection } from '../../contracts/hooks.ts';
import { aUserRow } from '../../contracts/records/database.ts';
import { ALL_KINDS } from '../../support/storage/kinds.ts';
import { type Database, openDatabase } from '../../support/storage/open-database.ts';

/** The longest one: names that PostgreSQL cuts to 63 bytes would not be distinct. */
const PREFIX = `a${'_'.repeat(29)}z`;

/** List the names of everything in a schema that has one. */
const NAMES = {
  sqlite: `select name from sqlite_schema where name not like 'sqlite_autoindex_%'`,
  postgresql: `select relname as name from pg_class where relnamespace = 'public'::regnamespace
    union select conname from pg_constraint where connamespace = 'public'::regnamespace and contype <> 'n'`,
  mariadb: `select table_name as name from information_schema.tables where table_schema = database()
    union select index_name from information_schema.statistics where table_schema = database() and index_name <> 'PRIMARY'
    union select constraint_name from information_schema.referential_constraints where constraint_schema = database()`,
};

describe.each(ALL_KINDS)('beside the tables of another application, on $on', ({ kind, empty }) => {
  let database: Database;
  beforeAll(async () => {
    const options = await empty();
    const open = (tablePrefix: string) => openDatabase({ ...options, tablePrefix }, { migrate: true });
    const first = await open('other_');
    await first.em.execute('create table users (id integer)');
    await first.em.execute('insert into users values (1)');
    database = await open(PREFIX);
    // It finds them.
    await open(PREFIX);
  });

  it('names the indexes that rows violate as without one', async () => {
    const { records } = database;
    const user = aUserRow();
    await records.insert('users', user);
    for (const [second, index] of [
      [aUserRow({ id: user.id }), 'users_pkey'],
      [aUserRow({ email: user.email }), 'users_email'],
    ] as const)
      expect(violates(await rejection(records.insert('users', second)), index)).toBe(true);
  });

  it('gives everything a name that begins with it, and leaves the rest alone', async () => {
    const { em } = database;
    const names = (await em.execute<{ name: string }[]>(NAMES[kind])).map(({ name }) => name);
    expect(names.length).toBeGreaterThan(50);
    expect(names.filter((name) => ![PREFIX, 'other_'].some((prefix) => name.startsWith(prefix)))).toEqual(['users']);
    expect(new Set(names.map((name) => name.replace(PREFIX, 'other_'))).size).toBe((names.length - 1) / 2 + 1);
    expect(await em.execute('select * from users')).toEqual([{ id: 1 }]);
  });
});
