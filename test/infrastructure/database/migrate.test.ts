import { MikroORM } from '@mikro-orm/sql';
import { describe, expect, it, onTestFinished } from 'vitest';
import { MIGRATIONS } from '../../../src/adapters/mikro-orm/migrations/migrations-list.ts';
import { type Database, openDatabase } from '../../../src/infrastructure/database/database.ts';
import { migratorOptions } from '../../../src/infrastructure/database/migrator-options.ts';
import { inTransaction, onPostgresql } from '../../support/storage/databases.ts';
import { ROUTES } from '../../support/storage/routes.ts';

const LOCK_KEY = 7_263_501_948;
/** Limits that an operator may set for requests, and that PostgreSQL applies to whoever sets no other. */
const LIMITS = ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout', 'transaction_timeout'];

/** Opens a database, and alters it for all connections from now on. */
const alter = async (url: string, settings: Readonly<Record<string, string>>): Promise<Database> => {
  const database = await openDatabase(onPostgresql(url), { migrate: false });
  onTestFinished(database.close);
  const [{ name }] = (await database.em.execute('select current_database() as name')) as [{ name: string }];
  for (const [setting, value] of Object.entries(settings)) {
    await database.em.execute(`alter database ${name} set ${setting} = '${value}'`);
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
  expect(await em.execute('select name from mikro_orm_migrations')).toEqual(MIGRATIONS.map(({ name }) => ({ name })));
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
    await migrateTo(direct, MIGRATIONS.at(-2)?.name ?? '');
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
