import type { Logger } from 'pino';
import { rotationBudgets } from '../../adapters/session-repository/rotation-recovery/deadlines.ts';
import { recoveringSessionRepository } from '../../adapters/session-repository/rotation-recovery/recovering-repository.ts';
import { auditedUnitOfWork } from '../../adapters/unit-of-work/audited.ts';
import type { Storage } from '../../application/ports/unit-of-work.ts';
import type { Config } from '../config.ts';
import { auditLog } from '../logging/audit-log.ts';
import type { OpenStorage } from '../storages/storage.ts';
import { alreadyOpen, openStorage as open } from '../storages/storages.ts';

type StorageConfig = Pick<Config, 'database' | 'databaseWarnings' | 'migrateOnStart' | 'requestTimeout'>;

type Opened = Storage & Pick<OpenStorage, 'checks' | 'connections' | 'close'>;

/**
 * Opens the storage of DATABASE_URL, unless the caller has one. A rotation whose outcome is unknown is reverted (ADR 0022).
 * @throws Error that names the setting at fault, and the reason.
 */
export const openStorage = async (config: StorageConfig, logger: Logger, own?: Storage): Promise<Opened> => {
  const opened = own === undefined ? await openDatabase(config, logger) : alreadyOpen(own);
  const { users, events, links, outbox, unitOfWork, checks, connections } = opened;
  const { rotation: budget, answer: answerBudget } = rotationBudgets(config.requestTimeout);
  const sessions = recoveringSessionRepository(opened.sessionsWithin({ budget }), { answerBudget });
  return {
    ...{ users, sessions, events, links, outbox, checks, connections },
    unitOfWork: auditedUnitOfWork(unitOfWork, auditLog(logger)),
    close: async () => {
      sessions.close();
      await opened.close();
    },
  };
};

const openDatabase = async (config: StorageConfig, logger: Logger): Promise<OpenStorage> => {
  for (const warning of config.databaseWarnings) logger.warn(warning);
  const onCreate = () => logger.info('Preparing the database …');
  return open(config.database, { migrate: config.migrateOnStart, onCreate, logger });
};
