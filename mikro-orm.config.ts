import { parseConfig } from './src/infrastructure/config.ts';
import { lockDataDir } from './src/infrastructure/data-dir-lock.ts';
import { ormOptions } from './src/infrastructure/orm-options.ts';
import { makeFilesPrivate, makePrivate } from './src/infrastructure/private-data.ts';

/** For MikroORM's command line alone, such as `mikro-orm migration:list`; the service opens its database itself. */
export default async () => {
  const { DATABASE_URL, DATA_DIR } = process.env;
  const { database } = parseConfig({ DATABASE_URL, DATA_DIR });
  if (database.kind === 'memory') throw new Error('DATABASE_URL: memory has no schema');
  if (database.kind === 'embedded') {
    makeFilesPrivate();
    process.once('exit', lockDataDir(database.dataDir));
    makePrivate(database.dataDir, 'database');
  }
  return ormOptions(database);
};
