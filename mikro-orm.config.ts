import { lockDataDir } from './src/infrastructure/data-dir-lock.ts';
import { ormOptions } from './src/infrastructure/orm-options.ts';

const { DATABASE_URL: url, DATA_DIR: dataDir = '.data' } = process.env;

/** For MikroORM's command line alone, such as `mikro-orm migration:list`; the service opens its database itself. */
export default async () => {
  if (url !== undefined && url !== '') return ormOptions({ kind: 'postgresql', url });
  process.once('exit', lockDataDir(dataDir));
  return ormOptions({ kind: 'embedded', dataDir });
};
