import type { Storage } from '../../application/ports/unit-of-work.ts';
import type { StorageOptions } from '../config/stores.ts';
import type { OpenContext, OpenStorage } from './storage.ts';

/** A storage that needs no connection, or whose connection belongs to the caller. */
export const alreadyOpen = ({ sessions, ...stores }: Storage): OpenStorage => ({
  ...stores,
  sessionsWithin: () => sessions,
  checks: [],
  connections: () => null,
  close: async () => undefined,
});

/** Opens the storage, and imports only its driver. @throws Error that names the variable at fault, and the reason. */
export const openStorage = async (options: StorageOptions, context: OpenContext): Promise<OpenStorage> => {
  if (options.kind === 'memory') return alreadyOpen((await import('./memory-stores.ts')).memoryStores());
  return (await import('./sql.ts')).openSql(options, context);
};

/** Brings the schema up to date, for the command `migrate`. @throws Error as `openStorage` */
export const migrateStorage = async (options: StorageOptions, onCreate: () => void): Promise<void> => {
  if (options.kind === 'memory') throw new Error('DATABASE_URL: memory: has no schema to migrate');
  await (await import('./sql.ts')).migrateSql(options, onCreate);
};
