import type { Logger } from 'pino';
import { systemClock } from '../../adapters/clock/system.ts';
import { type OwnTables, ownRecords, withOwnTables } from '../../adapters/records/own-tables.ts';
import { revertingSessions } from '../../adapters/records/sessions.ts';
import { storageWithListeners } from '../../adapters/records/storage.ts';
import type { Listeners, Storage } from '../../application/storage/records.ts';
import { AppError } from '../../domain/errors/app-error.ts';
import type { Config } from '../config.ts';
import type { OpenStorage } from '../open-sql.ts';
import type { Overrides } from './ports.ts';

/** What `OpenStorage` has beside the members of a caller's storage. `Overrides` has the checks and `close` of that storage. */
const CALLER_STORAGE = { checks: [], clock: systemClock, connections: () => null, close: async () => undefined };

/** The `sessions` of the opened storage revert rotations whose outcome is unknown (ADR 0003). @throws for instance Error that names the setting at fault */
export const openStorage = async (
  config: Config,
  logger: Logger,
  listeners: Listeners,
  { storage: custom, tables }: Pick<Overrides, 'storage' | 'tables'>,
) => {
  const opened: OpenStorage =
    typeof custom === 'object' ? { ...custom, ...CALLER_STORAGE } : await openDatabase(config, logger, tables);
  const { checks, clock, connections, close, ...defaults } = opened;
  try {
    const { sessions, ...stores } = typeof custom === 'function' ? custom(defaults) : defaults;
    const storage = { ...stores, sessions: revertingSessions(sessions) };
    return { storage: storageWithListeners(storage, listeners), checks, clock, connections, close };
  } catch (error) {
    await close();
    throw error;
  }
};

const openDatabase = async (config: Config, logger: Logger, tables?: OwnTables): Promise<OpenStorage> => {
  for (const warning of config.databaseWarnings) logger.warn(warning);
  // Not loaded for a storage of the caller, since Kysely and the drivers are slow to load.
  const { openSql } = await import('../open-sql.ts');
  const { database, migrateOnStart: migrate } = config;
  const onFailOver = (host: string, err: unknown) => logger.warn({ err, host }, 'the database is used at another host');
  const options = { ...database, onFailOver };
  return openSql(options, { migrate, tables: withOwnTables(tables, database.tablePrefix) });
};

/** @throws Error if a table of the application cannot be read, for instance because it is missing or lacks a column */
export const assertHasTables = async ({ records }: Storage, tables: OwnTables = {}): Promise<void> => {
  const applicationRecords = ownRecords(records);
  for (const [name, { key }] of Object.entries(tables))
    try {
      await applicationRecords.list(name, { order: key, limit: 1 });
    } catch (error) {
      const reason = error instanceof AppError ? error.reason : 'the storage was not made with it';
      throw new Error(`tables: ${name} cannot be read: ${reason}. docs/extend.md says who makes tables`);
    }
};
