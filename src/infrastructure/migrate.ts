import type { MikroORM } from '@mikro-orm/sql';
import type { DatabaseOptions } from './orm-options.ts';

/** Any number that no other program takes a PostgreSQL advisory lock on. */
const LOCK = 7_263_501_948;
const WAIT_FOR_OTHERS = '2min';
const LONGEST_STATEMENT = '10min';

/** Applies what is pending, all of it or nothing. */
export const applyMigrations = async (orm: MikroORM, kind: DatabaseOptions['kind']): Promise<void> => {
  if (kind === 'embedded') await orm.migrator.up();
  else await upAlone(orm);
};

/** Instances that start at once take turns: the lock goes with the transaction that migrates. */
const upAlone = (orm: MikroORM): Promise<void> =>
  orm.em.fork().transactional(async (em) => {
    await em.execute(`set local lock_timeout = '${WAIT_FOR_OTHERS}'`);
    await em.execute(`set local statement_timeout = '${LONGEST_STATEMENT}'`);
    await em.execute(`select pg_advisory_xact_lock(${LOCK})`);
    const transaction = em.getTransactionContext();
    await orm.migrator.up({ transaction });
  });
