import { type Database, openDatabase } from '../database/database.ts';
import type { DatabaseOptions } from '../database/orm-options.ts';
import type { OpenContext } from './storage.ts';

/**
 * An embedded database has its upkeep in the service: no other process can back it up meanwhile, and a command is too short to need
 * checkpoints.
 */
export const openForService = async (options: DatabaseOptions, context: OpenContext): Promise<Database> => {
  const database = await openDatabase(options, context);
  if (options.kind !== 'embedded') return database;
  const [{ withDumps }, { withCheckpoints }] = await Promise.all([
    import('../data/dump.ts'),
    import('../database/checkpoints.ts'),
  ]);
  const { logger } = context;
  return withDumps(withCheckpoints(database, { logger }), options.dataDir, logger);
};
