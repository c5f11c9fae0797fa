import { MikroORM, type SqlEntityManager } from '@mikro-orm/sql';
import { ENTITIES } from '../../adapters/mikro-orm/entities.ts';
import { MIGRATION_NAMES } from '../../adapters/mikro-orm/migrations/migrations.ts';
import { field, translated } from '../../adapters/mikro-orm/queries.ts';
import { reasonOf, systemReason } from '../../adapters/redaction/redact-error.ts';
import { DATABASE_CLOSED, NO_SCHEMA } from '../../adapters/redaction/safe-messages.ts';
import type { DatabaseOptions } from '../config/stores.ts';
import { assertNotRestoring, hasDatabase, lockDataDir } from '../data-dir/data-dir-lock.ts';
import { makePrivate } from '../data-dir/private-data.ts';
import { ormOptions } from './orm-options.ts';

/** Milliseconds. Without a limit, a ping over a network that drops packets would take minutes. */
const PING_TIMEOUT = 5_000;

export type Database = {
  readonly em: SqlEntityManager;
  /** @throws AppError DB_QUERY_FAILED when the database does not respond, refuses to write, or somebody has locked a table. */
  ping(): Promise<void>;
  /**
   * Applies pending migrations. Other processes may do the same at the same time.
   * @throws AppError DB_QUERY_FAILED
   */
  migrate(): Promise<void>;
  /** The current state of the pool; `null` for the embedded database, which has one connection. */
  connections(): { readonly used: number; readonly idle: number; readonly waiting: number } | null;
  /** Every later use of `em` fails. */
  close(): Promise<void>;
};

type OpenOptions = {
  readonly migrate: boolean;
  /** Called before an embedded database is created, which takes seconds. */
  readonly onCreate?: () => void;
  /** The content of an embedded database that does not exist yet, as PGlite dumps it. */
  readonly dump?: Buffer;
};

/**
 * Opens the database and waits until it responds.
 * @throws Error that names DATA_DIR or DATABASE_URL, and the reason.
 */
export const openDatabase = async (options: DatabaseOptions, opening: OpenOptions): Promise<Database> => {
  const { migrate, onCreate, dump } = opening;
  const settings = await ormOptions(options);
  let closed = false;
  /** MikroORM calls this for each connection. After `close`, it would connect again for a query. */
  const driverOptions = () => {
    if (closed) throw new Error(DATABASE_CLOSED);
    const content = dump === undefined ? {} : { loadDataDir: new Blob([new Uint8Array(dump)]) };
    return { ...settings.driverOptions, ...content };
  };
  // Not `MikroORM.init`, which loads the migrator and searches for files of entities.
  const orm = new MikroORM({ ...settings, driverOptions, logger: () => undefined });
  const unlock = options.kind === 'embedded' ? lockDataDir(options.dataDir) : () => undefined;
  const close = async () => {
    closed = true;
    await orm.close().finally(unlock);
  };
  try {
    if (options.kind === 'embedded') {
      assertNotRestoring(options.dataDir);
      makePrivate(options.dataDir, 'database');
      if (!hasDatabase(options.dataDir)) onCreate?.();
    }
    await orm.em.execute('select 1');
    if (migrate) await bringUpToDate(orm, options);
  } catch (error) {
    await close().catch(() => undefined);
    throw new Error(openFailure(options, error));
  }
  return {
    em: orm.em,
    ping: async () => void (await translated(() => assertWritable(orm, AbortSignal.timeout(PING_TIMEOUT)))),
    connections: await poolGauge(orm, options),
    migrate: () => translated(() => bringUpToDate(orm, options)),
    close,
  };
};

/**
 * Deletes no row of any table. PostgreSQL treats it as a write: it waits for locks on the tables, and is refused by a standby, by a former primary and
 * to a role that may not write. It writes nothing to the disk, so it does not see that this is full.
 */
const WRITE_NOTHING = `with ${ENTITIES.map(({ meta: { tableName } }) => `"of_${tableName}" as (delete from "${tableName}" where false)`).join(', ')} select 1`;

const assertWritable = (orm: MikroORM, signal: AbortSignal): Promise<unknown> =>
  orm.em.execute(WRITE_NOTHING, [], { signal });

/** The client of the driver. Every driver has this method; the type of a connection, which all of them share, does not. */
export const nativeClientOf = <Client>(em: SqlEntityManager): Promise<Client> =>
  (em.getConnection() as unknown as { getNativeClient(): Promise<Client> }).getNativeClient();

/** The part of the driver's pool that is used here. */
type Pool = { readonly totalCount: number; readonly idleCount: number; readonly waitingCount: number };

const poolGauge = async (orm: MikroORM, { kind }: DatabaseOptions): Promise<Database['connections']> => {
  if (kind === 'embedded') return () => null;
  const pool = await nativeClientOf<Pool>(orm.em);
  return () => ({ used: pool.totalCount - pool.idleCount, idle: pool.idleCount, waiting: pool.waitingCount });
};

const openFailure = (options: DatabaseOptions, error: unknown): string =>
  options.kind === 'embedded'
    ? `The database in DATA_DIR (${options.dataDir}) cannot be opened: ${isPostgresqlError(error) ? reasonOf(error) : systemReason(error)}`
    : `The database of DATABASE_URL cannot be opened: ${refusedParameter(error) ?? unreadableFile(error) ?? reasonOf(error)}`;

/** PgBouncer refuses a connection with an unknown startup parameter. Its message contains the name, and no value. */
const refusedParameter = (error: unknown): string | undefined => {
  const [, name] =
    /unsupported startup parameter: ([a-z_]{1,63})\b/.exec(error instanceof Error ? error.message : '') ?? [];
  return (
    name && `the pooler refuses the startup parameter ${name}; remove it from DATABASE_URL or from the PG* variables`
  );
};

/** The driver reads the files of a certificate when it connects. */
const unreadableFile = (error: unknown): string | undefined =>
  field(error, 'syscall') === 'open'
    ? `${field(error, 'code')}: a file that sslrootcert, sslcert or sslkey names cannot be read`
    : undefined;

/** Whether the error is one of PostgreSQL's own, whose message may quote stored values. */
const isPostgresqlError = (error: unknown): boolean => error instanceof Error && 'severity' in error;

const APPLIED_TABLE = 'mikro_orm_migrations';

/** Applies pending migrations. Loads the migrator only if there are any, which is rare (ADR 0035). */
const bringUpToDate = async (orm: MikroORM, options: DatabaseOptions): Promise<void> => {
  const { schema, exists } = await placeOfTables(orm);
  if (exists && (await isUpToDate(orm))) return;
  if (schema === null) throw new Error(NO_SCHEMA);
  const { applyMigrations } = await import('./migrate.ts');
  await applyMigrations(orm, options, schema);
};

/**
 * The schema that has the tables, or will have them. Statements name no schema: PostgreSQL searches the schemas of its `search_path`, and
 * creates tables in the first one that exists.
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

/** Reads without the lock of the migrator: a migration and its name are committed together. */
const isUpToDate = async (orm: MikroORM): Promise<boolean> => {
  const rows = await orm.em.execute<{ name: string }[]>(`select name from ${APPLIED_TABLE}`);
  const applied = new Set(rows.map(({ name }) => name));
  return MIGRATION_NAMES.every((name) => applied.has(name));
};
