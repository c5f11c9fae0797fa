import type { SessionRepository } from '../../application/ports/session-repository.ts';
import type { Records } from '../../application/storage/records.ts';
import { TABLES } from '../../application/storage/tables.ts';
import { OWN_PREFIX } from '../records/own-tables.ts';
import { errorTranslator, type SqlDialect } from './dialects.ts';
import { mariadbKind, mysqlKind } from './mysql.ts';
import type { DatabaseKind, DatabaseOptions, OpenConnection } from './options.ts';
import { postgresqlKind } from './postgresql.ts';
import { mikroOrmRecords } from './records.ts';
import { bringUpToDate, SchemaError, type SchemaState, schemaState, sendTo, tablesOf } from './schema.ts';
import { sqliteKind } from './sqlite.ts';

export type Database = {
  readonly records: Records;
  /** Replaces methods of a repository of sessions over `records` by faster ones, if this database has some. */
  readonly withFasterMethods: (plain: SessionRepository) => SessionRepository;
  /** Sends `emptyWrite` for the tables of sessions. @throws AppError DB_QUERY_FAILED if the database does not respond, or refuses it */
  ping(): Promise<void>;
  /** As `ping`, for the other tables of the service. */
  pingOtherTables(): Promise<void>;
  /** Reads the clock of the database server, in epoch milliseconds; `null` for SQLite, which has no server. @throws AppError DB_QUERY_FAILED */
  readonly readTime: (() => Promise<number>) | null;
  /** The product's version, whether tables may be created, and the state of the schema. @throws Error of the driver */
  examine(): Promise<{ readonly version: string; readonly mayCreate: boolean; readonly schema: SchemaState }>;
  /** The names of tables and views with the prefix of the application's tables, whether it declares them or not. @throws Error of the driver */
  ownTables(): Promise<readonly string[]>;
  readonly connections: OpenConnection['connections'];
  close(): Promise<void>;
};

export const kindOf = (options: DatabaseOptions): DatabaseKind | Promise<DatabaseKind> =>
  options.kind === 'sqlite' ? sqliteKind(options) : SERVER_KINDS[options.kind](options);

const SERVER_KINDS = { postgresql: postgresqlKind, mariadb: mariadbKind, mysql: mysqlKind };

export type OpenOptions = {
  /** Whether to create missing tables and to apply pending migrations. Several processes may do so at the same time. */
  readonly migrate: boolean;
  /** The tables of the service and of the application. Default: those of the service. */
  readonly tables?: typeof TABLES;
};

/** Opens the database, and checks it by `probeQuery`. @throws Error whose message tells the operator the reason */
export const openDatabase = async (options: DatabaseOptions, opening: OpenOptions): Promise<Database> =>
  databaseOver(await connect(options, opening));

export const connect = async (options: DatabaseOptions, { migrate, tables = TABLES }: OpenOptions) => {
  const [kind, prefix] = [await kindOf(options), options.tablePrefix];
  const { db, execute, connections, isCluster } = await kind.connect();
  const close = () => db.destroy();
  try {
    for (const setting of kind.settingStatements) await kind.dialect.withRetry(() => sendTo(db)(setting));
    const [row] = await kind.dialect.withRetry(() => sendTo(db)(kind.probeQuery));
    if (typeof row?.unfit === 'string') throw new SchemaError(row.unfit);
    if (migrate) await bringUpToDate({ db, kind, prefix, tables });
    const dialect: SqlDialect = isCluster?.() ? { ...kind.dialect, rowLock: 'write' } : kind.dialect;
    return { kind, dialect, prefix, tables, db, execute, connections, close };
  } catch (error) {
    await close().catch(() => undefined);
    throw error instanceof SchemaError ? error : new Error(kind.openFailure(error));
  }
};

export const databaseOver = (opened: Awaited<ReturnType<typeof connect>>): Database => {
  const { kind, dialect, prefix, tables, db, execute, connections, close } = opened;
  const { timeQuery } = kind;
  const translateErrors = errorTranslator(dialect.failureOf);
  const send = sendTo(db);
  const firstRow = async (text: string) => (await send(text))[0];
  const writeNothing = (names: readonly string[]) => () =>
    translateErrors(async () => {
      const statement = kind.emptyWrite(names.map((name) => `${prefix}${name}`));
      await dialect.withRetry(() => firstRow(statement));
    });
  const sessionTables = [TABLES.sessions.name, TABLES.massEndings.name];
  const otherTables = Object.values(TABLES).flatMap(({ name }) => (sessionTables.includes(name) ? [] : [name]));
  return {
    records: mikroOrmRecords(db, dialect, prefix, tables),
    withFasterMethods: (plain) => ({ ...plain, ...kind.fasterSessions?.({ db, execute }, plain, prefix) }),
    ping: writeNothing(sessionTables),
    pingOtherTables: writeNothing(otherTables),
    readTime: timeQuery === null ? null : () => translateErrors(async () => Number((await firstRow(timeQuery))?.now)),
    async examine() {
      const about = await firstRow(kind.aboutQuery);
      const schema = await schemaState(opened);
      return { version: String(about?.version), mayCreate: Boolean(about?.may_create), schema };
    },
    async ownTables() {
      const names = (await tablesOf(send, kind)).map(({ name }) => name);
      return names.filter((name) => name.startsWith(`${prefix}${OWN_PREFIX}`));
    },
    connections,
    close,
  };
};
