import { Migrator } from '@mikro-orm/migrations';
import type { Options } from '@mikro-orm/sql';
import { MIGRATIONS } from '../../adapters/mikro-orm/migrations/migrations-list.ts';
import { type DatabaseOptions, ormOptions } from './orm-options.ts';

export const MIGRATIONS_OPTIONS = { migrationsList: MIGRATIONS, snapshot: false };

/** The options of MikroORM with its migrator: to apply migrations, and for MikroORM's command line. */
export const migratorOptions = async (options: DatabaseOptions): Promise<Partial<Options>> => ({
  ...(await ormOptions(options)),
  extensions: [Migrator],
  migrations: MIGRATIONS_OPTIONS,
});
