import { describe, expect, it, onTestFinished } from 'vitest';
import { MIGRATIONS, type Migration } from '../../../src/adapters/mikro-orm/migrations.ts';
import { connect } from '../../../src/adapters/mikro-orm/open-database.ts';
import type { DatabaseOptions } from '../../../src/adapters/mikro-orm/options.ts';
import { bringUpToDate, schemaState } from '../../../src/adapters/mikro-orm/schema.ts';
import { TABLES } from '../../../src/application/storage/tables.ts';
import { aUserRow } from '../../contracts/records/database.ts';
import { inTransaction, onPostgresql, TEST_DATABASE_URL } from '../../support/storage/databases.ts';
import { emptyDatabase, KINDS } from '../../support/storage/kinds.ts';
import { type Database, openDatabase } from '../../support/storage/open-database.ts';
import { ROUTES } from '../../support/storage/routes.ts';

const APPLIED = 'select name from tandem_migrations order by name';
const NAMES = ['tables', ...MIGRATIONS.map(({ name }) => name)];
/** The rows of `APPLIED`. */
const rowsOf = (names: readonly string[]) => names.toSorted().map((name) => ({ name }));

const open = (options: DatabaseOptions, migrate = true) => openDatabase(options, { migrate });

/** An instance of a version with these migrations after those of today, over connections of its own. */
const instance = async (options: DatabaseOptions, migrations: readonly Migration[]) => {
  const opened = await connect(options, { migrate: false });
  onTestFinished(opened.close);
  return { ...opened, migrations: [...MIGRATIONS, ...migrations] };
};

/** Adds a column, and counts how often. */
const addingColumn = (name: string, column: string) => {
  let runs = 0;
  const migration: Migration = {
    name,
    table: 'users',
    up: async (transaction, { types, prefix }) => {
      runs += 1;
      await transaction.schema
        .alterTable(`${prefix}users`)
        .addColumn(column, types.integer, (added) => added.notNull().defaultTo(7))
        .execute();
    },
  };
  return { migration, runs: () => runs };
};

describe.each(KINDS)('a migration on $on', ({ empty }) => {
  it('is applied once, when several instances start at the same time, and keeps the rows', async () => {
    const options = await empty();
    const { em, records } = await open(options);
    await records.insert('users', aUserRow());
    const { migration, runs } = addingColumn('1.1.0-added', 'added');
    const instances = await Promise.all(Array.from({ length: 4 }, () => instance(options, [migration])));
    await Promise.all(instances.map(bringUpToDate));
    expect(runs()).toBe(1);
    expect(await em.execute('select added from users')).toMatchObject([{ added: expect.anything() }]);
    expect(await em.execute(APPLIED)).toEqual(rowsOf([...NAMES, '1.1.0-added']));
    for (const each of instances) expect(await schemaState(each)).toEqual({ pending: [], unknown: [] });
    // The version before goes on, and sees that there is a newer one.
    expect(await schemaState(await instance(options, []))).toEqual({ pending: [], unknown: ['1.1.0-added'] });
    await records.insert('users', aUserRow());
  });

  it('is applied together with all others, or not at all', async () => {
    const options = await empty();
    const { em } = await open(options);
    const { migration } = addingColumn('1.1.0-added', 'added');
    const failing: Migration = {
      ...{ name: '1.1.0-failing', table: 'users' },
      up: () => Promise.reject(new Error('it failed')),
    };
    const opened = await instance(options, [migration, failing]);
    await expect(bringUpToDate(opened)).rejects.toThrow('it failed');
    await expect(em.execute('select added from users')).rejects.toThrow();
    expect(await schemaState(opened)).toEqual({ pending: ['1.1.0-added', '1.1.0-failing'], unknown: [] });
    const mended = { ...opened, migrations: [...MIGRATIONS, migration] };
    await bringUpToDate(mended);
    expect(await schemaState(mended)).toEqual({ pending: [], unknown: [] });
  });
});

it.each(KINDS)(
  'a table that is missing on $on is created as it is declared, once, and none of its migrations is applied',
  async ({ empty }) => {
    const options = await empty();
    const { em, records } = await open(options);
    await em.execute('drop table invitations');
    const { migration, runs } = addingColumn('1.1.0-added', 'added');
    const opened = await instance(options, [{ ...migration, table: 'invitations' }]);
    expect((await schemaState(opened)).pending).toEqual(['1.1.0-added', 'invitations']);
    await Promise.all([bringUpToDate(opened), bringUpToDate(await instance(options, opened.migrations))]);
    expect(runs()).toBe(0);
    expect(await schemaState(opened)).toEqual({ pending: [], unknown: [] });
    expect(await records.list('invitations', { order: ['email'] })).toEqual([]);
  },
);

it.each(KINDS)('a start on $on over tables that lack a column is refused, and names the column', async ({ empty }) => {
  const options = await empty();
  const { em } = await open(options);
  await em.execute('alter table sessions drop column held_at');
  await expect(open(options)).rejects.toThrow(/those of no version that was released: .*held_at/);
});

describe.runIf(TEST_DATABASE_URL !== undefined)('a migration of many rows on PostgreSQL', () => {
  const SEARCH = '1.1.0-search';
  /** Tables as 1.0.0 had them, but for what is searched. */
  const former = async () => {
    const options = await emptyDatabase();
    const opened = await open(options);
    await opened.em.execute('drop index users_search');
    await opened.em.execute(`delete from tandem_migrations where name = '${SEARCH}'`);
    return { options, ...opened };
  };
  const isValid = `select indisvalid from pg_index where indexrelid = 'users_search'::regclass`;

  it('makes its index once, when several instances start at the same time, of which each has one connection', async () => {
    const { options, em, records } = await former();
    for (let count = 0; count < 500; count += 1) await records.insert('users', aUserRow());
    const instances = await Promise.all(Array.from({ length: 4 }, () => instance({ ...options, poolSize: 1 }, [])));
    await Promise.all(instances.map(bringUpToDate));
    expect(await em.execute(isValid)).toEqual([{ indisvalid: true }]);
    expect(await em.execute(APPLIED)).toEqual(rowsOf(NAMES));
  });

  it('makes its index while users are written, and anew after an interruption', async () => {
    const { options, em, records } = await former();
    let migrating = Promise.resolve();
    await inTransaction(await open(options, false), async (send) => {
      await send('lock table users in row exclusive mode');
      migrating = bringUpToDate(await instance(options, []));
      const waiting = `select 1 from pg_stat_activity where query like 'create index concurrently%' and wait_event_type = 'Lock'`;
      await expect.poll(() => em.execute(waiting), { timeout: 60_000 }).toHaveLength(1);
      await records.insert('users', aUserRow());
      // As if the process had been killed: the index is there, and not valid.
      await em.execute(
        `select pg_cancel_backend(pid) from pg_stat_activity where query like 'create index concurrently%'`,
      );
      await expect(migrating).rejects.toThrow('npm run migrate');
    });
    expect(await em.execute(isValid)).toEqual([{ indisvalid: false }]);
    await bringUpToDate(await instance(options, []));
    expect(await em.execute(isValid)).toEqual([{ indisvalid: true }]);
    expect(await em.execute(APPLIED)).toEqual(rowsOf(NAMES));
  });
});

describe.each(KINDS)('a start on an empty $on', ({ empty }) => {
  it('makes them only on request, and a second time without an effect', async () => {
    const options = await empty();
    const { records, ping } = await open(options, false);
    await expect(ping()).rejects.toMatchObject({ code: 'DB_QUERY_FAILED' });
    await open(options);
    await records.insert('users', aUserRow());
    await open(options);
    await ping();
    expect(await records.list('users', { order: ['id'] })).toHaveLength(1);
  });

  it('refuses a table of somebody else, names it and the setting, and leaves all as it was', async () => {
    const options = await empty();
    const { em, examine } = await open(options, false);
    await em.execute('create table sessions (id integer)');
    await em.execute('insert into sessions values (1)');
    await expect(open(options)).rejects.toThrow(/a table sessions already, .* Set DATABASE_TABLE_PREFIX/);
    expect((await examine()).schema.pending).toEqual(NAMES);
    expect(await em.execute('select * from sessions')).toEqual([{ id: 1 }]);
    await (await open({ ...options, tablePrefix: 'auth_' })).ping();
  });
});

/** Alters a database for all connections from now on. */
const alter = async (url: string, setting: string, value: string): Promise<Database> => {
  const database = await open(onPostgresql(url), false);
  const [{ name } = expect.unreachable()] = await database.em.execute<{ name: string }[]>(
    'select current_database() as name',
  );
  await database.em.execute(`alter database ${name} set ${setting} = ${value}`);
  return database;
};

describe.each(ROUTES)('a start on PostgreSQL, %s', (_name, route) => {
  it.each(['read committed', 'serializable'])(
    'sees what another one did meanwhile, where the default is %s',
    async (level) => {
      const { direct, url } = await route();
      await alter(direct, 'default_transaction_isolation', `'${level}'`);
      for (const { em } of await Promise.all([1, 2, 3].map(() => open(onPostgresql(url)))))
        expect(await em.execute(APPLIED)).toEqual(rowsOf(NAMES));
    },
  );

  it('with nothing to apply does not wait for an instance that migrates', async () => {
    const { direct, url } = await route();
    const admin = await open(onPostgresql(direct));
    await inTransaction(admin, async (send) => {
      await send('select name from tandem_migrations for update');
      await open(onPostgresql(url));
    });
  });
});

describe.runIf(TEST_DATABASE_URL !== undefined)('a PostgreSQL whose search_path is not the default', () => {
  /** `schema.table` of all tables. */
  const tablesOf = async ({ em }: Database) => {
    const rows = await em.execute<{ name: string }[]>(`select schemaname || '.' || tablename as name from pg_tables
      where schemaname not in ('pg_catalog', 'information_schema')`);
    return rows.map(({ name }) => name).sort();
  };
  const TABLE_NAMES = [...Object.values(TABLES).map(({ name }) => name), 'tandem_migrations'].sort();

  it('has the tables in the first schema that exists, and is used by the second start', async () => {
    const { url } = await emptyDatabase();
    const database = await alter(url, 'search_path', `nobody, "of One's own", public`);
    await database.em.execute(`create schema "of One's own"`);
    await open(onPostgresql(url));
    const second = await open(onPostgresql(url));
    expect(await tablesOf(second)).toEqual(TABLE_NAMES.map((table) => `of One's own.${table}`));
    await second.ping();
  });

  it('keeps its tables where they are when a schema comes before theirs', async () => {
    const { url } = await emptyDatabase();
    await open(onPostgresql(url));
    const database = await alter(url, 'search_path', 'later, public');
    await database.em.execute('create schema later');
    const { migration } = addingColumn('1.1.0-added', 'added');
    await bringUpToDate(await instance(onPostgresql(url), [migration]));
    const second = await open(onPostgresql(url));
    expect(await tablesOf(second)).toEqual(TABLE_NAMES.map((table) => `public.${table}`));
    await second.ping();
  });

  it('has its tables beside a table of somebody else in another schema', async () => {
    const { url } = await emptyDatabase();
    const database = await alter(url, 'search_path', 'auth, public');
    await database.em.execute('create schema auth');
    await database.em.execute('create table public.users (id integer)');
    const { records } = await open(onPostgresql(url));
    await records.insert('users', aUserRow());
    expect(await database.em.execute('select * from public.users')).toEqual([]);
    await database.em.execute('create table public.invitations (id integer)');
    await database.em.execute('drop table auth.invitations');
    expect(await (await open(onPostgresql(url))).records.list('invitations', { order: ['email'] })).toEqual([]);
  });

  it('is refused in words when none of its schemas exists', async () => {
    const { url } = await emptyDatabase();
    await alter(url, 'search_path', 'nobody');
    await expect(open(onPostgresql(url))).rejects.toThrow(
      /DATABASE_URL cannot be opened: no schema of the search_path exists/,
    );
  });
});
