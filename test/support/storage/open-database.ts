import { MikroORM, type SqlEntityManager } from '@mikro-orm/sql';
import { ormOptions } from '../../../src/adapters/mikro-orm/entities.ts';
import * as adapter from '../../../src/adapters/mikro-orm/open-database.ts';
import { type AnyTable, TABLES } from '../../../src/application/storage/tables.ts';
import { closedAtEnd } from '../closing.ts';

/** A database, with the entity manager through which tests send statements over the same connections. */
export type Database = adapter.Database & { readonly em: SqlEntityManager };

/** Opens a database, which is closed at the end of the test or file. */
export const openDatabase = async (...given: Parameters<typeof adapter.connect>): Promise<Database> => {
  const opened = await adapter.connect(...given);
  const { kind, prefix, tables, db } = opened;
  const { em } = new MikroORM({ ...(await ormOptions(kind, prefix, tables)), driverOptions: db });
  const database = adapter.databaseOver(opened);
  return { ...database, em, close: closedAtEnd(database.close) };
};

/** The tables with rows that are not deleted with a user, and the table of users, which is first. */
export const ROOT_TABLES = Object.values<AnyTable>(TABLES)
  .filter(({ ofUser, columns }) => !ofUser || columns.userId === 'text?')
  .map(({ name }) => name);

export const removeAllRows = async ({ em }: Pick<Database, 'em'>, prefix = ''): Promise<void> => {
  for (const table of ROOT_TABLES) await em.execute(`delete from ${prefix}${table}`);
};
