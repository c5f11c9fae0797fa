import { MikroORM, type SqlEntityManager } from '@mikro-orm/sql';
import { ormOptions } from '../../../src/adapters/mikro-orm/entities.ts';
import * as adapter from '../../../src/adapters/mikro-orm/open-database.ts';

/** A database, with the entity manager by which tests send statements of their own over the same connections. */
export type Database = adapter.Database & { readonly em: SqlEntityManager };

export const openDatabase = async (...given: Parameters<typeof adapter.connect>): Promise<Database> => {
  const opened = await adapter.connect(...given);
  const { kind, prefix, tables, kysely } = opened;
  const { em } = new MikroORM({ ...(await ormOptions(kind, prefix, tables)), driverOptions: kysely() });
  return { ...adapter.databaseOver(opened), em };
};
