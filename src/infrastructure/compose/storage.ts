import type { Logger } from 'pino';
import type { Check } from '../../adapters/http/routes/health.ts';
import { rotationBudgets } from '../../adapters/session-repository/rotation-recovery/budgets.ts';
import { recoveringSessionRepository } from '../../adapters/session-repository/rotation-recovery/recovering-repository.ts';
import { auditedUnitOfWork } from '../../adapters/unit-of-work/audited.ts';
import { NO_RECORDS } from '../../adapters/unit-of-work/no-records.ts';
import { separateStores } from '../../adapters/unit-of-work/separate.ts';
import type { Stores } from '../../application/ports/unit-of-work.ts';
import type { Config } from '../config.ts';
import { auditLog } from '../logging/audit-log.ts';
import type { OpenStorage } from '../storages/storage.ts';
import { storageOf } from '../storages/storages.ts';
import type { OwnPorts } from './own-parts.ts';
import { assertOwnStoresFit, keepsRecordsOf } from './own-stores.ts';
import type { Ports } from './ports.ts';

type Storage = Stores &
  Pick<Ports, 'unitOfWork'> &
  Pick<OpenStorage, 'connections' | 'close'> & {
    readonly checks: readonly Check[];
    /** Whether events, links and messages are kept. */
    readonly keepsRecords: boolean;
  };

type StorageConfig = Pick<
  Config,
  'database' | 'databaseWarnings' | 'migrateOnStart' | 'requestTimeout' | 'auditAccountNames'
>;

/**
 * Opens what the given repositories do not replace. A rotation whose outcome is unknown is reverted (ADR 0022).
 * @throws Error that names the setting or the port at fault, and the reason.
 */
export const openStorage = async (config: StorageConfig, logger: Logger, own: OwnPorts): Promise<Storage> => {
  assertOwnStoresFit(own);
  const database = await openDatabase(config, logger, own);
  const { rotation: budget, answer: answerBudget } = rotationBudgets(config.requestTimeout);
  const sessions = recoveringSessionRepository(own.sessions ?? database.sessionsWithin({ budget }), { answerBudget });
  const { events, links, outbox } = { ...(own.users === undefined ? database : NO_RECORDS), ...own };
  const stores: Stores = { users: own.users ?? database.users, sessions, events, links, outbox };
  const unitOfWork = own.unitOfWork ?? (own.users === undefined ? database.unitOfWork : separateStores(stores));
  return {
    ...stores,
    keepsRecords: keepsRecordsOf(own),
    unitOfWork: auditedUnitOfWork(unitOfWork, { audit: auditLog(logger), withNames: config.auditAccountNames }),
    checks: database.checks,
    connections: database.connections,
    close: async () => {
      sessions.close();
      await database.close();
    },
  };
};

/** Beside stores of the caller's own, an unused storage in memory takes the place of the database of DATABASE_URL. */
const openDatabase = async (config: StorageConfig, logger: Logger, own: OwnPorts): Promise<OpenStorage> => {
  const isNeeded = own.users === undefined;
  for (const warning of isNeeded ? config.databaseWarnings : []) logger.warn(warning);
  const options = isNeeded ? config.database : ({ kind: 'memory' } as const);
  return storageOf(options).open(options, {
    migrate: config.migrateOnStart,
    onCreate: () => logger.info('Preparing the database …'),
    logger,
  });
};
