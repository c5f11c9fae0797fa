import { mikroOrmEventRepository } from '../../adapters/event-repository/mikro-orm.ts';
import { mikroOrmLinkRepository } from '../../adapters/link-repository/mikro-orm.ts';
import { type DatabaseAccess, outsideOfTransactions } from '../../adapters/mikro-orm/transaction.ts';
import { mikroOrmOutbox } from '../../adapters/outbox/mikro-orm.ts';
import { mikroOrmSessionRepository } from '../../adapters/session-repository/mikro-orm.ts';
import { mikroOrmUnitOfWork } from '../../adapters/unit-of-work/mikro-orm.ts';
import { mikroOrmUserRepository } from '../../adapters/user-repository/mikro-orm.ts';
import type { Stores } from '../../application/ports/unit-of-work.ts';
import { type Database, openDatabase } from '../database/database.ts';
import type { DatabaseOptions } from '../database/orm-options.ts';
import { transactions } from '../database/transact.ts';
import type { OpenContext, OpenStorage } from './storage.ts';

/** The stores over a database, or over one transaction of it. */
export const sqlStores = (db: DatabaseAccess): Stores => ({
  users: mikroOrmUserRepository(db),
  sessions: mikroOrmSessionRepository(db),
  events: mikroOrmEventRepository(db),
  links: mikroOrmLinkRepository(db),
  outbox: mikroOrmOutbox(db),
});

/** Opens a database with MikroORM. A separate module, since MikroORM is slow to import. */
export const openSql = async (options: DatabaseOptions, context: OpenContext): Promise<OpenStorage> => {
  const { em, ping, connections, close } = await openForService(options, context);
  const db = outsideOfTransactions(em);
  const { sessions: _, ...stores } = sqlStores(db);
  return {
    ...stores,
    unitOfWork: mikroOrmUnitOfWork(transactions(em, options), sqlStores),
    sessionsWithin: (options) => mikroOrmSessionRepository(db, options),
    checks: [{ name: 'database', ping, required: true }],
    connections,
    close,
  };
};

/**
 * Opens a database for the service. For an embedded one, the service also makes backups and checkpoints: no other process can back it up
 * meanwhile.
 */
export const openForService = async (options: DatabaseOptions, context: OpenContext): Promise<Database> => {
  const database = await openDatabase(options, context);
  if (options.kind !== 'embedded') return database;
  const [{ withDumps }, { withCheckpoints }] = await Promise.all([
    import('../data/dump.ts'),
    import('../database/checkpoints.ts'),
  ]);
  const { logger } = context;
  return withDumps(withCheckpoints(database, { logger }), options.dataDir, logger);
};

export const migrateSql = async (options: DatabaseOptions, onCreate: () => void): Promise<void> => {
  const { close } = await openDatabase(options, { migrate: true, onCreate });
  await close();
};
