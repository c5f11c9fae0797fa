import type { SqlEntityManager } from '@mikro-orm/sql';
import * as adapter from '../../../src/adapters/mikro-orm/open-database.ts';

/** A database, with the entity manager by which tests send statements of their own. */
export type Database = adapter.Database & { readonly em: SqlEntityManager };

export const openDatabase = async (...given: Parameters<typeof adapter.openOrm>): Promise<Database> => {
  const opened = await adapter.openOrm(...given);
  return { ...adapter.databaseOver(opened), em: opened.orm.em };
};
