import type { Logger } from 'pino';
import { systemClock } from '../../adapters/clock/system.ts';
import { type OwnTables, ownRecords, withOwnTables } from '../../adapters/records/own-tables.ts';
import { revertingSessions } from '../../adapters/records/sessions.ts';
import { tellingStorage } from '../../adapters/records/storage.ts';
import type { Listeners, Storage } from '../../application/storage/records.ts';
import { AppError } from '../../domain/errors/app-error.ts';
import type { Config } from '../config.ts';
import type { OpenStorage } from '../open-sql.ts';
import type { Overrides } from './ports.ts';

type StorageConfig = Pick<Config, 'database' | 'databaseWarnings' | 'migrateOnStart'>;

type Opened = { readonly storage: Storage } & Pick<OpenStorage, 'checks' | 'clock' | 'connections' | 'close'>;

/**
 * Opens the storage of DATABASE_URL, unless the caller brings one. Rotations whose outcome is unknown are reverted (ADR 0003).
 * @throws Error that names the setting at fault, and the reason.
 */
export const openStorage = async (
  config: StorageConfig,
  logger: Logger,
  listeners: Listeners,
  { storage: custom, tables }: Pick<Overrides, 'storage' | 'tables'>,
): Promise<Opened> => {
  const opened = typeof custom === 'object' ? alreadyOpen(custom) : await openDatabase(config, logger, tables, custom);
  const { checks, clock, connections, close, ...storage } = opened;
  const sessions = revertingSessions(storage.sessions);
  return { storage: tellingStorage({ ...storage, sessions }, listeners), checks, clock, connections, close };
};

/** A storage whose connection, if it has one, belongs to the caller. */
const alreadyOpen = (storage: Storage): OpenStorage => ({
  ...storage,
  checks: [],
  clock: systemClock,
  connections: () => null,
  close: async () => undefined,
});

const openDatabase = async (
  config: StorageConfig,
  logger: Logger,
  tables: OwnTables | undefined,
  over: (defaults: Storage) => Storage = (defaults) => defaults,
): Promise<OpenStorage> => {
  for (const warning of config.databaseWarnings) logger.warn(warning);
  // Imported only without a storage of the caller: Kysely and the drivers are slow to load.
  const { openSql } = await import('../open-sql.ts');
  const { checks, clock, connections, close, ...defaults } = await openSql(config.database, {
    migrate: config.migrateOnStart,
    tables: withOwnTables(tables, config.database.tablePrefix),
  });
  try {
    return { ...over(defaults), checks, clock, connections, close };
  } catch (error) {
    await close();
    throw error;
  }
};

/** @throws Error when a table of the application is missing, or has not all of its columns. */
export const assertHasTables = async ({ records }: Storage, tables: OwnTables = {}): Promise<void> => {
  const own = ownRecords(records);
  for (const [name, { key }] of Object.entries(tables))
    try {
      await own.list(name, { order: key, limit: 1 });
    } catch (error) {
      const reason = error instanceof AppError ? error.reason : 'the storage was not made with it';
      throw new Error(`tables: ${name} cannot be read: ${reason}. docs/own-routes.md says who makes tables`);
    }
};
