import { MikroORM } from '@mikro-orm/sql';
import { type DatabaseOptions, ormOptions } from './orm-options.ts';

/** Any number that no other program takes a PostgreSQL advisory lock on. */
const LOCK = 7_263_501_948;
const WAIT_FOR_OTHERS = '2min';
/** A table that is busy is not waited for long: whoever came after the migration would wait behind it. */
const WAIT_FOR_A_TABLE = '3s';
/** Milliseconds; requests have far less. */
const LONGEST_STATEMENT = 600_000;

/** Applies what is pending, all of it or nothing. Instances that start at once on one PostgreSQL take turns. */
export const applyMigrations = async (orm: MikroORM, options: DatabaseOptions): Promise<void> => {
  if (options.kind === 'embedded') {
    await orm.migrator.up();
    return;
  }
  const patient = { ...options, poolSize: 2, statementTimeout: LONGEST_STATEMENT };
  const migrating = await MikroORM.init({ ...(await ormOptions(patient)), logger: () => undefined });
  await upAlone(migrating).finally(() => migrating.close());
};

/** The advisory lock goes with the transaction that migrates. */
const upAlone = (orm: MikroORM): Promise<void> =>
  orm.em.fork().transactional(async (em) => {
    await em.execute(`set local lock_timeout = '${WAIT_FOR_OTHERS}'`);
    await em.execute(`select pg_advisory_xact_lock(${LOCK})`);
    await em.execute(`set local lock_timeout = '${WAIT_FOR_A_TABLE}'`);
    const transaction = em.getTransactionContext();
    await orm.migrator.up({ transaction });
  });
