import { MikroORM } from '@mikro-orm/sql';
import { describe, expect, it, onTestFinished } from 'vitest';
import { MIGRATION_NAMES } from '../../../src/adapters/mikro-orm/migrations/migrations.ts';
import { mikroOrmUserRepository } from '../../../src/adapters/user-repository/mikro-orm.ts';
import { type Database, openDatabase } from '../../../src/infrastructure/database/database.ts';
import { migratorOptions } from '../../../src/infrastructure/database/migrate.ts';
import { createDatabase, inTransaction, onPostgresql, TEST_DATABASE_URL } from '../../support/storage/databases.ts';
import { ROUTES } from '../../support/storage/routes.ts';

const LOCK_KEY = 7_263_501_948;
/** Limits that an operator may set for requests, and that PostgreSQL applies where a client sets no other. */
const LIMITS = ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout', 'transaction_timeout'];

/** Opens a database, and alters it for all connections from now on. */
const alter = async (url: string, settings: Readonly<Record<string, string>>): Promise<Database> => {
  const database = await openDatabase(onPostgresql(url), { migrate: false });
  onTestFinished(database.close);
  const [{ name }] = (await database.em.execute('select current_database() as name')) as [{ name: string }];
  for (const [setting, value] of Object.entries(settings)) {
    await database.em.execute(
      `alter database ${name} set ${setting} = ${setting === 'search_path' ? value : `'${value}'`}`,
    );
  }
  return database;
};

/** Lets `work` run while another migrator holds the lock, until `work` has waited for `milliseconds` on the server's clock. */
const whileAnotherMigrates = async (admin: Database, milliseconds: number, work: () => Promise<Database>) => {
  const waiting = `select pid from pg_stat_activity where datname = current_database() and wait_event = 'advisory'
    and clock_timestamp() - query_start > interval '${milliseconds} ms'`;
  const opening = inTransaction(admin, async (send) => {
    await send(`select pg_advisory_xact_lock(${LOCK_KEY})`);
    const opened = work();
    let failed = false;
    opened.catch(() => {
      failed = true;
    });
    await expect
      .poll(async () => failed || (await admin.em.execute(waiting)).length > 0, { timeout: 20_000 })
      .toBe(true);
    return { opened };
  });
  return (await opening).opened;
};

/** Applies the migrations up to this one. */
const migrateTo = async (url: string, name: string): Promise<void> => {
  const orm = await MikroORM.init({ ...(await migratorOptions(onPostgresql(url))), logger: () => undefined });
  await orm.migrator.up({ to: name }).finally(() => orm.close());
};

const expectMigrated = async ({ em, close }: Database) => {
  onTestFinished(close);
  expect(await em.execute('select name from mikro_orm_migrations')).toEqual(MIGRATION_NAMES.map((name) => ({ name })));
};

describe.each(ROUTES)('a migration, %s', (_name, route) => {
  it('waits for another one for longer than the limits that the database sets for requests', async () => {
    const { direct, url } = await route();
    const admin = await openDatabase(onPostgresql(direct), { migrate: false });
    onTestFinished(admin.close);
    const known = await admin.em.execute('select name from pg_settings where name in (?)', [LIMITS]);
    await alter(direct, Object.fromEntries(known.map(({ name }) => [name, '300ms'])));
    const database = await whileAnotherMigrates(admin, 700, () => openDatabase(onPostgresql(url), { migrate: true }));
    await expectMigrated(database);
  });

  it('of another instance is not waited for by a start with nothing to apply', async () => {
    const { direct, url } = await route();
    const admin = await openDatabase(onPostgresql(direct), { migrate: true });
    onTestFinished(admin.close);
    const database = await inTransaction(admin, async (send) => {
      await send(`select pg_advisory_xact_lock(${LOCK_KEY})`);
      return { opened: await openDatabase(onPostgresql(url), { migrate: true }) };
    });
    await expectMigrated(database.opened);
  });

  it('is applied when the latest one is missing', async () => {
    const { direct, url } = await route();
    await migrateTo(direct, MIGRATION_NAMES.at(-2) ?? '');
    await expectMigrated(await openDatabase(onPostgresql(url), { migrate: true }));
  });

  it.each(['repeatable read', 'serializable'])(
    'sees what another one did meanwhile in a database whose default is %s',
    async (level) => {
      const { direct, url } = await route();
      await alter(direct, { default_transaction_isolation: level });
      const open = () => openDatabase(onPostgresql(url), { migrate: true });
      for (const database of await Promise.all([open(), open(), open()])) await expectMigrated(database);
    },
  );
});

describe.runIf(TEST_DATABASE_URL !== undefined)('a database whose search_path is not PostgreSQL’s', () => {
  const directly = async () => {
    const { url, drop } = await createDatabase(TEST_DATABASE_URL ?? '');
    onTestFinished(drop);
    return url;
  };
  const open = async (url: string) => {
    const database = await openDatabase(onPostgresql(url), { migrate: true });
    onTestFinished(database.close);
    return database;
  };
  /** `schema.table` of all tables. */
  const tablesOf = async ({ em }: Database) => {
    const rows = await em.execute<{ name: string }[]>(`select schemaname || '.' || tablename as name from pg_tables
      where schemaname not in ('pg_catalog', 'information_schema') order by 1`);
    return rows.map(({ name }) => name);
  };
  const TABLES = [
    ...['events', 'factors', 'links', 'mailboxes', 'mikro_orm_migrations', 'operations', 'outbox', 'passkeys'],
    ...['recovery_codes', 'remembered_devices', 'sessions', 'used_values', 'users'],
  ];

  it('has the tables in the first schema that exists, and is used by the second start', async () => {
    const url = await directly();
    const database = await alter(url, { search_path: 'nobody, "of One\'s own", public' });
    await database.em.execute(`create schema "of One's own"`);
    const [first, second] = [await open(url), await open(url)];
    await expectMigrated(first);
    expect(await tablesOf(second)).toEqual(TABLES.map((table) => `of One's own.${table}`));
    expect(await mikroOrmUserRepository(second).findById('01ARZ3NDEKTSV4RRFFQ69G5FAV')).toBeNull();
  });

  it('keeps its tables where they are when a schema comes before theirs', async () => {
    const url = await directly();
    await migrateTo(url, MIGRATION_NAMES.at(-2) ?? '');
    const database = await alter(url, { search_path: 'later, public' });
    await database.em.execute('create schema later');
    const first = await open(url);
    await expectMigrated(first);
    expect(await tablesOf(await open(url))).toEqual(TABLES.map((table) => `public.${table}`));
  });

  it('is refused in words when none of its schemas exists', async () => {
    const url = await directly();
    await alter(url, { search_path: 'nobody' });
    await expect(open(url)).rejects.toThrow(/DATABASE_URL cannot be opened: .*no schema of the search_path exists/);
  });
});
