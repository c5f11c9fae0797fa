import { MikroORM, type SqlEntityManager } from '@mikro-orm/sql';
import { translated } from '../../adapters/mikro-orm/translate-error.ts';
import { reasonOf } from '../../adapters/redaction/redact-error.ts';
import { DATABASE_CLOSED } from '../../adapters/redaction/safe-messages.ts';
import { systemReason } from '../../adapters/redaction/system-reason.ts';
import { lockDataDir } from '../data-dir/data-dir-lock.ts';
import { makePrivate } from '../data-dir/private-data.ts';
import { applyMigrations } from './migrate.ts';
import { type DatabaseOptions, ormOptions } from './orm-options.ts';

/** Milliseconds. A network that swallows packets would keep a ping for minutes. */
const PING_TIMEOUT = 5_000;

export type Database = {
  readonly em: SqlEntityManager;
  /** @throws AppError DB_QUERY_FAILED when the database does not answer. */
  ping(): Promise<void>;
  /**
   * Brings the schema up to date, safely while other processes do the same.
   * @throws AppError DB_QUERY_FAILED
   */
  migrate(): Promise<void>;
  /** The pool at this moment; `null` for the embedded database, which has one connection. */
  connections(): { readonly used: number; readonly idle: number; readonly waiting: number } | null;
  /** Whatever is asked of `em` afterwards fails. */
  close(): Promise<void>;
};

/**
 * Opens the database, waits for its first answer and, if told to, migrates it.
 * @throws Error that names DATA_DIR or DATABASE_URL, and the reason.
 */
export const openDatabase = async (options: DatabaseOptions, { migrate }: { migrate: boolean }): Promise<Database> => {
  const settings = await ormOptions(options);
  let closed = false;
  /** MikroORM asks for these whenever it connects, and it would connect again for a query that comes too late. */
  const driverOptions = () => {
    if (closed) throw new Error(DATABASE_CLOSED);
    return settings.driverOptions ?? {};
  };
  const orm = await MikroORM.init({ ...settings, driverOptions, logger: () => undefined });
  const unlock = options.kind === 'embedded' ? lockDataDir(options.dataDir) : () => undefined;
  const select1 = (signal?: AbortSignal) => orm.em.execute('select 1', [], signal === undefined ? {} : { signal });
  const close = async () => {
    closed = true;
    await orm.close().finally(unlock);
  };
  try {
    if (options.kind === 'embedded') makePrivate(options.dataDir, 'database');
    await select1();
    if (migrate) await applyMigrations(orm, options);
  } catch (error) {
    await close().catch(() => undefined);
    throw new Error(whyNot(options, error));
  }
  return {
    em: orm.em,
    ping: async () => void (await translated(() => select1(AbortSignal.timeout(PING_TIMEOUT)))),
    connections: await poolGauge(orm, options),
    migrate: () => translated(() => applyMigrations(orm, options)),
    close,
  };
};

/** What is needed here of the driver's pool. */
type Pool = { readonly totalCount: number; readonly idleCount: number; readonly waitingCount: number };

const poolGauge = async (orm: MikroORM, { kind }: DatabaseOptions): Promise<Database['connections']> => {
  if (kind === 'embedded') return () => null;
  const connection = orm.em.getConnection() as unknown as { getNativeClient(): Promise<Pool> };
  const pool = await connection.getNativeClient();
  return () => ({ used: pool.totalCount - pool.idleCount, idle: pool.idleCount, waiting: pool.waitingCount });
};

const whyNot = (options: DatabaseOptions, error: unknown): string =>
  options.kind === 'embedded'
    ? `The database in DATA_DIR (${options.dataDir}) cannot be opened: ${isOfSql(error) ? reasonOf(error) : systemReason(error)}`
    : `The database of DATABASE_URL cannot be opened: ${reasonOf(error)}`;

/** Whether PostgreSQL itself refused something, in a message that may quote stored values. */
const isOfSql = (error: unknown): boolean => error instanceof Error && 'severity' in error;
