import { mikroOrmSessionRepository } from '../../adapters/session-repository/mikro-orm.ts';
import { mikroOrmUserRepository } from '../../adapters/user-repository/mikro-orm.ts';
import { openDatabase } from '../database/database.ts';
import type { DatabaseOptions } from '../database/orm-options.ts';
import type { OpenContext, OpenStorage } from './storage.ts';

/** Opens a database that MikroORM has a driver for. In a module of its own, since MikroORM is slow to import. */
export const openSql = async (options: DatabaseOptions, context: OpenContext): Promise<OpenStorage> => {
  const { em, ping, connections, close } = await openDatabase(options, context);
  return {
    users: mikroOrmUserRepository(em),
    sessionsWithin: (options) => mikroOrmSessionRepository(em, options),
    checks: [{ name: 'database', ping, required: true }],
    connections,
    close,
  };
};

export const migrateSql = async (options: DatabaseOptions, onCreate: () => void): Promise<void> => {
  const { close } = await openDatabase(options, { migrate: true, onCreate });
  await close();
};
