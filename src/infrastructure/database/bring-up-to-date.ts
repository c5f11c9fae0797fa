import type { MikroORM } from '@mikro-orm/sql';
import { MIGRATION_NAMES } from '../../adapters/mikro-orm/migrations/migration-names.ts';
import type { DatabaseOptions } from './orm-options.ts';

/** Where MikroORM keeps the names of the applied migrations, in its default schema. */
const APPLIED_TABLE = 'mikro_orm_migrations';

/** Applies pending migrations. Loads the migrator only if there are any: most starts have none (ADR 0035). */
export const bringUpToDate = async (orm: MikroORM, options: DatabaseOptions): Promise<void> => {
  if (await isUpToDate(orm)) return;
  const { applyMigrations } = await import('./migrate.ts');
  await applyMigrations(orm, options);
};

/** Without the lock of the migrator: a migration and its name are committed together, so a name that is read is that of a whole one. */
const isUpToDate = async (orm: MikroORM): Promise<boolean> => {
  const table = `${orm.config.get('schema', 'public')}.${APPLIED_TABLE}`;
  const [found] = await orm.em.execute<{ exists: boolean }[]>('select to_regclass(?) is not null as exists', [table]);
  if (found?.exists !== true) return false;
  const rows = await orm.em.execute<{ name: string }[]>(`select name from ${table}`);
  const applied = new Set(rows.map(({ name }) => name));
  return MIGRATION_NAMES.every((name) => applied.has(name));
};
