import { MIGRATION_NAMES } from '../../adapters/mikro-orm/migrations/migration-names.ts';
import type { Send } from './tables.ts';

/** The names of the migrations that a database has, oldest first; none if it has no tables yet. */
export const appliedMigrations = async (send: Send): Promise<string[]> => {
  const [found] = await send<{ found: boolean }>(`select to_regclass('mikro_orm_migrations') is not null as found`);
  if (found?.found !== true) return [];
  const rows = await send<{ name: string }>('select name from mikro_orm_migrations order by id');
  return rows.map(({ name }) => name);
};

/** @param applied the names of the migrations that a database has. */
export const compareMigrations = (applied: readonly string[]) => {
  const known: readonly string[] = MIGRATION_NAMES;
  return {
    pending: known.filter((name) => !applied.includes(name)),
    /** Those of a newer version. */
    unknown: applied.filter((name) => !known.includes(name)),
  };
};
