import { ormOptions } from './src/adapters/mikro-orm/entities.ts';
import { kindOf } from './src/adapters/mikro-orm/open-database.ts';
import { parseConfig } from './src/infrastructure/config.ts';
import { makeFilesPrivate } from './src/infrastructure/private-data.ts';

/** The configuration of MikroORM's command line, such as `mikro-orm schema:update --dump`. The service does not use this file. */
export default async () => {
  const { DATABASE_URL, DATABASE_TABLE_PREFIX, DATA_DIR } = process.env;
  const { database } = parseConfig({ DATABASE_URL, DATABASE_TABLE_PREFIX, DATA_DIR });
  makeFilesPrivate();
  return ormOptions(await kindOf(database), database.tablePrefix);
};
