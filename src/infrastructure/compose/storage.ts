import type { Logger } from 'pino';
import { systemClock } from '../../adapters/clock/system.ts';
import { recoveringSessionRepository, rotationBudget } from '../../adapters/records/rotation-recovery.ts';
import { auditedUnitOfWork, auditLog } from '../../adapters/records/wrappers.ts';
import type { Storage } from '../../application/ports/unit-of-work.ts';
import type { AccountEvent } from '../../domain/event.ts';
import type { Config } from '../config.ts';
import type { OpenStorage } from '../open-sql.ts';

type StorageConfig = Pick<Config, 'database' | 'databaseWarnings' | 'migrateOnStart' | 'requestTimeout'>;

type Opened = { readonly storage: Storage } & Pick<OpenStorage, 'checks' | 'clock' | 'connections' | 'close'>;

/**
 * Opens the storage of DATABASE_URL, unless the caller brings one. Rotations whose outcome is unknown are reverted (ADR 0003).
 * @param onEvent called for each event that is logged
 * @throws Error that names the setting at fault, and the reason.
 */
export const openStorage = async (
  config: StorageConfig,
  logger: Logger,
  custom?: Storage,
  onEvent?: (event: AccountEvent) => void,
): Promise<Opened> => {
  const opened = custom === undefined ? await openDatabase(config, logger) : alreadyOpen(custom);
  const { unitOfWork, checks, clock, connections, close, ...stores } = opened;
  const answerBudget = rotationBudget(config.requestTimeout);
  const sessions = recoveringSessionRepository(stores.sessions, { answerBudget });
  return {
    storage: { ...stores, sessions, unitOfWork: auditedUnitOfWork(unitOfWork, auditLog(logger, onEvent)) },
    checks,
    clock,
    connections,
    close: async () => {
      sessions.close();
      await close();
    },
  };
};

/** A storage whose connection, if it has one, belongs to the caller. */
const alreadyOpen = (storage: Storage): OpenStorage => ({
  ...storage,
  checks: [],
  clock: systemClock,
  connections: () => null,
  close: async () => undefined,
});

const openDatabase = async (config: StorageConfig, logger: Logger): Promise<OpenStorage> => {
  for (const warning of config.databaseWarnings) logger.warn(warning);
  // Imported only without a storage of the caller: MikroORM is slow to load.
  const { openSql } = await import('../open-sql.ts');
  return openSql(config.database, { migrate: config.migrateOnStart });
};
