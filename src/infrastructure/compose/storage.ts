import type { Logger } from 'pino';
import type { Check } from '../../adapters/http/routes/health.ts';
import { ROTATION_BUDGET } from '../../adapters/session-repository/rotation-recovery/budgets.ts';
import { auditedUnitOfWork } from '../../adapters/unit-of-work/audited.ts';
import { NO_RECORDS } from '../../adapters/unit-of-work/no-records.ts';
import { separateStores, withSessionsElsewhere } from '../../adapters/unit-of-work/separate.ts';
import type { SessionRepository } from '../../application/ports/session-repository.ts';
import type { Stores, UnitOfWork } from '../../application/ports/unit-of-work.ts';
import type { Config } from '../config.ts';
import { auditLog } from '../logging/audit-log.ts';
import type { OpenStorage } from '../storages/storage.ts';
import { storageOf } from '../storages/storages.ts';
import type { OwnPorts } from './own-parts.ts';
import { assertOwnStoresFit, isInDatabase, keepsRecordsOf } from './own-stores.ts';
import type { Ports } from './ports.ts';
import { openSessionStore } from './session-store.ts';

type Storage = Stores &
  Pick<Ports, 'unitOfWork'> &
  Pick<OpenStorage, 'connections' | 'close'> & {
    readonly checks: readonly Check[];
    /** Whether events, links and messages are kept. */
    readonly keepsRecords: boolean;
  };

type StorageConfig = Pick<
  Config,
  | 'database'
  | 'databaseWarnings'
  | 'migrateOnStart'
  | 'sessionStore'
  | 'redisUrls'
  | 'requestTimeout'
  | 'auditAccountNames'
>;

/**
 * Opens what the given repositories do not replace. Sessions of the caller's own get the recovery of ADR 0022, too.
 * @throws Error that names the setting or the port at fault, and the reason.
 */
export const openStorage = async (config: StorageConfig, logger: Logger, own: OwnPorts): Promise<Storage> => {
  assertOwnStoresFit(config, own);
  const database = await openDatabase(config, logger, own);
  try {
    const store = await openSessions(config, database, logger, own);
    const audited = (unitOfWork: UnitOfWork) =>
      auditedUnitOfWork(unitOfWork, { audit: auditLog(logger), withNames: config.auditAccountNames });
    return {
      ...joined(config, database, { sessions: store.sessions, audited }, own),
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

type Joining = {
  readonly sessions: SessionRepository;
  readonly audited: (unitOfWork: UnitOfWork) => UnitOfWork;
};

/** The stores, and how they are changed together. */
const joined = (config: StorageConfig, database: OpenStorage, { sessions, audited }: Joining, own: OwnPorts) => {
  const users = own.users ?? database.users;
  const { events, links, outbox } = { ...(own.users === undefined ? database : NO_RECORDS), ...own };
  const stores: Stores = { users, sessions, events, links, outbox };
  const keepsRecords = keepsRecordsOf(own);
  return { ...stores, keepsRecords, unitOfWork: unitOfWorkOf(config, database, { stores, audited }, own) };
};

type Stored = Pick<Joining, 'audited'> & { readonly stores: Stores };

const unitOfWorkOf = (config: StorageConfig, database: OpenStorage, { stores, audited }: Stored, own: OwnPorts) => {
  if (own.unitOfWork !== undefined) return audited(own.unitOfWork);
  if (own.users !== undefined) return audited(separateStores(stores));
  const inDatabase = audited(database.unitOfWork);
  return isInDatabase(config, own) ? inDatabase : withSessionsElsewhere(inDatabase, stores.sessions);
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

/** Where nothing is to be kept in the database of DATABASE_URL, an unused storage in memory takes its place. */
const openDatabase = async (config: StorageConfig, logger: Logger, own: OwnPorts): Promise<OpenStorage> => {
  const isNeeded = own.users === undefined || isInDatabase(config, own);
  for (const warning of isNeeded ? config.databaseWarnings : []) logger.warn(warning);
  const options = isNeeded ? config.database : ({ kind: 'memory' } as const);
  return storageOf(options).open(options, {
    migrate: config.migrateOnStart,
    onCreate: () => logger.info('Preparing the database …'),
    logger,
  });
};
