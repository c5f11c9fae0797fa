import { Migrator } from '@mikro-orm/migrations';
import { IsolationLevel, MikroORM, type Options } from '@mikro-orm/sql';
import { loadMigrations } from '../../adapters/mikro-orm/migrations/migrations.ts';
import { type DatabaseOptions, ormOptions } from './orm-options.ts';

/**
 * MikroORM's migrator without its first steps, which use a second connection outside the transaction of the migrations: it would
 * create its table there, and create a database whose name only a pooler knows. The table is created within the transaction.
 */
class OneConnectionMigrator extends Migrator {
  override async init(): Promise<void> {}
}

/** The key of a PostgreSQL advisory lock: any number that no other program uses. */
const LOCK_KEY = 7_263_501_948;
const WAIT_FOR_OTHERS = '2min';
/** Short: queries that arrive after the migration would wait behind it. */
const WAIT_FOR_A_TABLE = '3s';
/** Milliseconds that one statement may take. Those of requests have much less. */
const STATEMENT_TIMEOUT = 600_000;

/**
 * Applies all pending migrations, or none. Instances that start at the same time on one PostgreSQL take turns.
 * @param schema that has the tables, or gets them.
 */
export const applyMigrations = async (orm: MikroORM, options: DatabaseOptions, schema: string): Promise<void> => {
  if (options.kind === 'embedded') {
    orm.config.set('migrations', { ...orm.config.get('migrations'), ...(await migrationsOptions()) });
    await new OneConnectionMigrator(orm.em).up();
    return;
  }
  const patient = { ...options, poolSize: 1, statementTimeout: STATEMENT_TIMEOUT };
  const migrating = new MikroORM({ ...(await migratorOptions(patient)), schema, logger: () => undefined });
  await upAlone(migrating, schema).finally(() => migrating.close());
};

/** Limits of the database or the role, which may be made for requests. PostgreSQL 17 added the last one. */
const LIMITS = ['statement_timeout', 'idle_in_transaction_session_timeout', 'transaction_timeout'];

/**
 * All settings and the advisory lock end with the transaction, as a pooler in transaction mode requires. In another isolation level
 * than READ COMMITTED, a process that waited for the lock would not see what the one before it did.
 */
const upAlone = (orm: MikroORM, schema: string): Promise<void> =>
  orm.em.fork().transactional(
    async (em) => {
      await em.execute('select set_config(name, ?, true) from pg_settings where name in (?)', ['0', LIMITS]);
      // What a migration creates is where the other tables are, even if another schema comes before theirs.
      await em.execute('select set_config(?, quote_ident(?), true)', ['search_path', schema]);
      await em.execute(`set local lock_timeout = '${WAIT_FOR_OTHERS}'`);
      await em.execute(`select pg_advisory_xact_lock(${LOCK_KEY})`);
      await em.execute(`set local lock_timeout = '${WAIT_FOR_A_TABLE}'`);
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
