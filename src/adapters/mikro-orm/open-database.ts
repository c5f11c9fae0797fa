import { MikroORM, type Options, type SqlEntityManager } from '@mikro-orm/sql';
import { CompiledQuery } from 'kysely';
import type { SessionRepository } from '../../application/ports/session-repository.ts';
import { DATABASE_CLOSED } from '../log/safe-messages.ts';
import type { Records } from '../records/records.ts';
import { TABLES } from '../records/tables.ts';
import { recordEntities } from './entities.ts';
import { translatedBy } from './failures.ts';
import type { DatabaseKind, PoolState } from './kind.ts';
import { mariadbKind, mysqlKind } from './mysql.ts';
import type { DatabaseOptions } from './options.ts';
import { postgresqlKind } from './postgresql.ts';
import { mikroOrmRecords } from './records.ts';
import { bringUpToDate, SchemaError, type SchemaState, schemaState } from './schema.ts';
import { sqliteKind } from './sqlite.ts';
import type { Sql } from './statements.ts';

export type Database = {
  readonly records: Records;
  readonly em: SqlEntityManager;
  /** The same repository of sessions over `records`, outside of units faster where this database can do so. */
  readonly faster: (plain: SessionRepository) => SessionRepository;
  /** @throws AppError DB_QUERY_FAILED when the database does not respond, refuses to write, or somebody has locked a table. */
  ping(): Promise<void>;
  /** Reads the clock of the server, in epoch milliseconds; `null`: the clock is that of this machine. @throws AppError DB_QUERY_FAILED */
  readonly readTime: (() => Promise<number>) | null;
  /** What the operator may want to know. @throws Error of the driver */
  examine(): Promise<{ readonly version: string; readonly mayCreate: boolean; readonly schema: SchemaState }>;
  /** The current state of the pool; `null` without one. */
  connections(): PoolState | null;
  /** Every later use fails. */
  close(): Promise<void>;
};

/** Loads only the driver that is needed. */
export const kindOf = (options: DatabaseOptions): DatabaseKind | Promise<DatabaseKind> =>
  options.kind === 'sqlite' ? sqliteKind(options) : SERVERS[options.kind](options);

const SERVERS = { postgresql: postgresqlKind, mariadb: mariadbKind, mysql: mysqlKind };

/** MikroORM with one entity for each table. Also for its command line. */
export const ormOptions = ({ options, types }: DatabaseKind, prefix: string): Partial<Options> => ({
  ...options,
  entities: recordEntities(types, prefix),
  ensureDatabase: false,
  allowGlobalContext: true,
  debug: false,
});

/**
 * Opens the database and waits until it responds.
 * @param migrate whether to create the tables that are missing, and to apply pending migrations. Other processes may do so at the same time.
 * @throws Error that names the setting at fault, and the reason.
 */
export const openDatabase = async (
  options: DatabaseOptions,
  { migrate }: { readonly migrate: boolean },
): Promise<Database> => {
  const kind = await kindOf(options);
  const { dialect } = kind;
  const translate = translatedBy(dialect.failureOf);
  // Not `MikroORM.init`, which searches for files of entities.
  const orm = new MikroORM({ ...ormOptions(kind, options.tablePrefix), logger: () => undefined });
  let closed = false;
  /** After `close`, MikroORM would connect again. */
  const kysely = (): Sql => {
    if (closed) throw new Error(DATABASE_CLOSED);
    return orm.em.getKysely();
  };
  const send = (text: string) => kysely().executeQuery<Record<string, unknown>>(CompiledQuery.raw(text));
  const opened = () => ({ orm, db: kysely(), kind, prefix: options.tablePrefix });
  const close = async () => {
    closed = true;
    await orm.close();
  };
  let connections: Database['connections'] = () => null;
  try {
    connections = await kind.pool(orm.em);
    for (const setting of [...kind.settings, 'select 1']) await dialect.repeated(() => send(setting));
    if (migrate) await bringUpToDate(opened());
  } catch (error) {
    await close().catch(() => undefined);
    throw new Error(error instanceof SchemaError ? error.message : kind.openFailure(error));
  }
  const translated = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    try {
      return await work();
    } catch (error) {
      throw translate(error);
    }
  };
  const { time } = kind;
  const examine = async () => {
    const [about] = (await send(kind.about)).rows;
    const schema = await schemaState(opened());
    return { version: String(about?.version), mayCreate: Boolean(about?.may_create), schema };
  };
  return {
    records: mikroOrmRecords(kysely, dialect, options.tablePrefix),
    em: orm.em,
    faster: (plain) => ({ ...plain, ...kind.sessions?.(kysely, plain, options.tablePrefix) }),
    ping: () => translated(() => assertWritable(kysely(), kind, options.tablePrefix)),
    readTime: time === null ? null : () => translated(async () => Number((await send(time)).rows[0]?.now)),
    examine,
    connections,
    close,
  };
};

/**
 * Deletes no row of any table. Databases treat it as a write: it waits for locks on the tables, and is refused by a read-only server and
 * to a role that may not write. It writes nothing to the disk, so it does not see that this is full.
 */
const assertWritable = (db: Sql, { dialect }: DatabaseKind, prefix: string): Promise<void> =>
  dialect.transact(db, async (transaction) => {
    for (const { name } of Object.values(TABLES))
      await transaction
        .deleteFrom(`${prefix}${name}`)
        .where((eb) => eb(eb.val(0), '=', eb.val(1)))
        .execute();
  });
