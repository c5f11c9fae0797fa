import { Migrator } from '@mikro-orm/migrations';
import { IsolationLevel, MikroORM, type Options } from '@mikro-orm/sql';
import { loadMigrations } from '../../adapters/mikro-orm/migrations/migrations.ts';
import type { DatabaseOptions } from '../config/stores.ts';
import { ormOptions } from './orm-options.ts';

/**
 * MikroORM's migrator without its first steps. These use a second connection, outside the transaction of the migrations, to create the
 * table of migrations, and a database whose name only a pooler knows. Here, the table is created within the transaction.
 */
class OneConnectionMigrator extends Migrator {
  override async init(): Promise<void> {}
}

/** The key of the advisory lock of migrations: an arbitrary number. */
const LOCK_KEY = 7_263_501_948;
const MIGRATION_LOCK_TIMEOUT = '2min';
/** Short, since queries that arrive after the migration wait behind it. */
const TABLE_LOCK_TIMEOUT = '3s';
/** Milliseconds that one statement may take. Those of requests have much less. */
export const STATEMENT_TIMEOUT = 600_000;

/**
 * Applies all pending migrations, or none. Instances that start at the same time wait for each other.
 * @param schema that has the tables, or gets them.
 */
export const applyMigrations = async (orm: MikroORM, options: DatabaseOptions, schema: string): Promise<void> => {
  if (options.kind === 'embedded') {
    orm.config.set('migrations', { ...orm.config.get('migrations'), ...(await migrationsOptions()) });
    await new OneConnectionMigrator(orm.em).up();
    return;
  }
  const waiting = { ...options, poolSize: 1, statementTimeout: STATEMENT_TIMEOUT };
  const migrating = new MikroORM({ ...(await migratorOptions(waiting)), schema, logger: () => undefined });
  await migrateUnderLock(migrating, schema).finally(() => migrating.close());
};

/** Limits that the database or the role may set for requests. PostgreSQL 17 added the last one. */
const LIMITS = ['statement_timeout', 'idle_in_transaction_session_timeout', 'transaction_timeout'];

/**
 * All settings and the advisory lock end with the transaction, as a pooler in transaction mode requires. READ COMMITTED, so that a process
 * that waited for the lock sees the migrations of the one before it.
 */
const migrateUnderLock = (orm: MikroORM, schema: string): Promise<void> =>
  orm.em.fork().transactional(
    async (em) => {
      await em.execute('select set_config(name, ?, true) from pg_settings where name in (?)', ['0', LIMITS]);
      // New tables go to the schema of the others, even if another one comes first in the search_path.
      await em.execute('select set_config(?, quote_ident(?), true)', ['search_path', schema]);
      await em.execute(`set local lock_timeout = '${MIGRATION_LOCK_TIMEOUT}'`);
      await em.execute(`select pg_advisory_xact_lock(${LOCK_KEY})`);
      await em.execute(`set local lock_timeout = '${TABLE_LOCK_TIMEOUT}'`);
      const transaction = em.getTransactionContext();
      await new OneConnectionMigrator(orm.em).up({ transaction });
    },
    { isolationLevel: IsolationLevel.READ_COMMITTED },
  );

const migrationsOptions = async () => ({ migrationsList: await loadMigrations(), snapshot: false });

/** The options of MikroORM with its migrator: to apply migrations, and for MikroORM's command line. */
export const migratorOptions = async (options: DatabaseOptions): Promise<Partial<Options>> => ({
  ...(await ormOptions(options)),
  extensions: [Migrator],
  migrations: await migrationsOptions(),
});
