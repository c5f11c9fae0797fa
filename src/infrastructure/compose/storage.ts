import type { Logger } from 'pino';
import type { Check } from '../../adapters/http/routes/health.ts';
import type { Readings } from '../../adapters/metrics/prometheus.ts';
import { memorySessionRepository } from '../../adapters/session-repository/memory.ts';
import { mikroOrmSessionRepository } from '../../adapters/session-repository/mikro-orm.ts';
import { memoryUserRepository } from '../../adapters/user-repository/memory.ts';
import { mikroOrmUserRepository } from '../../adapters/user-repository/mikro-orm.ts';
import type { Config } from '../config.ts';
import { openDatabase } from '../database/database.ts';
import type { Ports } from './ports.ts';
import { openSessionStore } from './session-store.ts';

type Storage = Pick<Ports, 'users' | 'sessions'> & {
  readonly checks: readonly Check[];
  readonly connections: Readings['databaseConnections'];
  readonly close: () => Promise<void>;
};

type StorageConfig = Pick<Config, 'database' | 'migrateOnStart' | 'sessionStore' | 'redisUrls' | 'requestTimeout'>;

/** @throws Error that names DATA_DIR, DATABASE_URL or REDIS_URL, and the reason. */
export const openStorage = async (config: StorageConfig, logger: Logger): Promise<Storage> => {
  const { users, sessionsWithin, checks, connections, close } = await openRepositories(config, logger);
  try {
    const store = await openSessionStore(config, sessionsWithin, logger);
    return {
      users,
      sessions: store.sessions,
      checks: [...checks, ...store.checks],
      connections,
      close: async () => {
        store.close();
        await close();
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
};

type Repositories = Omit<Storage, 'sessions'> & { readonly sessionsWithin: Parameters<typeof openSessionStore>[1] };

const openRepositories = async ({ database, migrateOnStart }: StorageConfig, logger: Logger): Promise<Repositories> => {
  if (database.kind === 'memory') {
    return {
      users: memoryUserRepository(),
      sessionsWithin: () => memorySessionRepository(),
      checks: [],
      connections: () => null,
      close: async () => undefined,
    };
  }
  const { em, ping, connections, close } = await openDatabase(database, {
    migrate: migrateOnStart,
    onCreate: () => logger.info('Preparing the database …'),
  });
  return {
    users: mikroOrmUserRepository(em),
    sessionsWithin: (options) => mikroOrmSessionRepository(em, options),
    checks: [{ name: 'database', ping, required: true }],
    connections,
    close,
  };
};
