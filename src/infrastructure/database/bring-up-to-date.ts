import type { MikroORM } from '@mikro-orm/sql';
import { MIGRATION_NAMES } from '../../adapters/mikro-orm/migrations/migration-names.ts';
import { NO_SCHEMA } from '../../adapters/redaction/safe-messages.ts';
import type { DatabaseOptions } from './orm-options.ts';

/** Where MikroORM keeps the names of the applied migrations. */
const APPLIED_TABLE = 'mikro_orm_migrations';

/** Applies pending migrations. Loads the migrator only if there are any: most starts have none (ADR 0035). */
export const bringUpToDate = async (orm: MikroORM, options: DatabaseOptions): Promise<void> => {
  const { schema, exists } = await placeOfTables(orm);
  if (exists && (await isUpToDate(orm))) return;
  if (schema === null) throw new Error(NO_SCHEMA);
  const { applyMigrations } = await import('./migrate.ts');
  await applyMigrations(orm, options, schema);
};

/**
 * The schema where the tables are, or will be. Statements name tables without a schema, so PostgreSQL looks for them in the schemas of
 * its `search_path` in turn, and creates them in the first that exists.
 */
const placeOfTables = async (orm: MikroORM): Promise<{ schema: string | null; exists: boolean }> => {
  const [place] = await orm.em.execute<{ schema: string | null; exists: boolean }[]>(
    `select coalesce(nspname, current_schema()) as schema, nspname is not null as exists
     from (select to_regclass(?) as id) as applied
     left join pg_class on pg_class.oid = id left join pg_namespace on pg_namespace.oid = relnamespace`,
    [APPLIED_TABLE],
  );
  return place ?? { schema: null, exists: false };
};

/** Without the lock of the migrator: a migration and its name are committed together, so a name that is read is that of a whole one. */
const isUpToDate = async (orm: MikroORM): Promise<boolean> => {
  const rows = await orm.em.execute<{ name: string }[]>(`select name from ${APPLIED_TABLE}`);
  const applied = new Set(rows.map(({ name }) => name));
  return MIGRATION_NAMES.every((name) => applied.has(name));
};
