import { parseConfig } from './src/infrastructure/config.ts';
import { lockDataDir } from './src/infrastructure/data-dir/data-dir-lock.ts';
import { makeFilesPrivate, makePrivate } from './src/infrastructure/data-dir/private-data.ts';
import { migratorOptions } from './src/infrastructure/database/migrate.ts';

/** For MikroORM's command line only, such as `mikro-orm migration:list`; the service does not use this file. */
export default async () => {
  const { DATABASE_URL, DATA_DIR } = process.env;
  const { database } = parseConfig({ DATABASE_URL, DATA_DIR });
  if (database.kind !== 'embedded' && database.kind !== 'postgresql')
    throw new Error('DATABASE_URL: MikroORM is for PostgreSQL and the embedded database only');
  if (database.kind === 'embedded') {
    makeFilesPrivate();
    process.once('exit', lockDataDir(database.dataDir));
    makePrivate(database.dataDir, 'database');
  }
  return migratorOptions(database);
};
