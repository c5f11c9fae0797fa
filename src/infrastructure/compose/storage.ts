import type { Logger } from 'pino';
import type { Check } from '../../adapters/http/routes/health.ts';
import { ROTATION_BUDGET } from '../../adapters/session-repository/rotation-recovery/budgets.ts';
import type { Config } from '../config.ts';
import type { OpenStorage } from '../storages/storage.ts';
import { storageOf } from '../storages/storages.ts';
import type { OwnPorts } from './own-parts.ts';
import type { Ports } from './ports.ts';
import { openSessionStore } from './session-store.ts';

type Storage = Pick<Ports, 'users' | 'sessions'> &
  Pick<OpenStorage, 'connections' | 'close'> & { readonly checks: readonly Check[] };

type StorageConfig = Pick<
  Config,
  'database' | 'databaseWarnings' | 'migrateOnStart' | 'sessionStore' | 'redisUrls' | 'requestTimeout'
>;

/**
 * Opens what the given repositories do not replace. Sessions of the caller's own get the recovery of ADR 0022, too.
 * @throws Error that names the setting or the port at fault, and the reason.
 */
export const openStorage = async (config: StorageConfig, logger: Logger, own: OwnPorts): Promise<Storage> => {
  assertReferencesHold(config, own);
  const database = await openDatabase(config, logger, own);
  try {
    const store = await openSessions(config, database, logger, own);
    return {
      users: own.users ?? database.users,
      sessions: store.sessions,
      checks: [...database.checks, ...store.checks],
      connections: database.connections,
      close: async () => {
        store.close();
        await database.close();
      },
    };
  } catch (error) {
    await database.close();
    throw error;
  }
};

const openSessions = (config: StorageConfig, { sessionsWithin }: OpenStorage, logger: Logger, own: OwnPorts) => {
  const { sessions } = own;
  if (sessions === undefined) {
    const { rotationBudget } = storageOf(config.database);
    return openSessionStore(config, { sessionsWithin, rotationBudget }, logger);
  }
  const given = { sessionsWithin: () => sessions, rotationBudget: ROTATION_BUDGET.database };
  return openSessionStore({ ...config, sessionStore: 'database' }, given, logger);
};

const isInDatabase = ({ sessionStore }: StorageConfig, { sessions }: OwnPorts): boolean =>
  sessions === undefined && sessionStore === 'database';

const assertReferencesHold = (config: StorageConfig, own: OwnPorts): void => {
  if (own.users === undefined || !isInDatabase(config, own)) return;
  if (!storageOf(config.database).sessionsReferenceUsers) return;
  throw new Error(
    'ports.users needs ports.sessions, or SESSION_STORE=redis: sessions in the database of DATABASE_URL reference the users in it',
  );
};

/** Where nothing is to be kept in the database of DATABASE_URL, an unused storage in memory takes its place. */
const openDatabase = async (config: StorageConfig, logger: Logger, own: OwnPorts): Promise<OpenStorage> => {
  const isNeeded = own.users === undefined || isInDatabase(config, own);
  for (const warning of isNeeded ? config.databaseWarnings : []) logger.warn(warning);
  const options = isNeeded ? config.database : ({ kind: 'memory' } as const);
  return storageOf(options).open(options, {
    migrate: config.migrateOnStart,
    onCreate: () => logger.info('Preparing the database …'),
  });
};
