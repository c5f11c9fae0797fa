import type { SqlEntityManager } from '@mikro-orm/sql';
import { hostOf } from '../../config/hosts.ts';
import { openDatabase } from '../../database/database.ts';
import type { DatabaseOptions } from '../../database/orm-options.ts';
import { clockFacts } from '../checks/clock.ts';
import type { PostgresqlFacts } from '../checks/postgresql.ts';
import { QUESTION_TIMEOUT } from './limits.ts';
import { reached } from './unreachable.ts';

type Options = Extract<DatabaseOptions, { kind: 'postgresql' }>;

/** Host and port of a URL, without its credentials. */
export const addressOf = (url: string): string => {
  const parsed = new URL(url);
  // The beginning of a password with an unencoded `/`, `?` or `#` is taken for a port.
  if (`${parsed.pathname}${parsed.search}${parsed.hash}`.includes('@')) return 'the address of DATABASE_URL';
  return `${parsed.searchParams.get('host') ?? hostOf(parsed)}:${parsed.port || 5432}`;
};

/**
 * Asks a PostgreSQL about itself, over one connection, without writing.
 * @throws Unreachable
 */
export const askPostgresql = async (options: Options): Promise<PostgresqlFacts> => {
  const bounded = {
    ...options,
    poolSize: 1,
    connectionTimeout: Math.min(options.connectionTimeout, QUESTION_TIMEOUT),
    statementTimeout: QUESTION_TIMEOUT,
  };
  const { em, close } = await reached(openDatabase(bounded, { migrate: false }));
  try {
    return await factsOf(em);
  } finally {
    await close();
  }
};

const factsOf = async (em: SqlEntityManager): Promise<PostgresqlFacts> => {
  const clock = await clockOf(em);
  const settings = await settingsOf(em);
  const [row] = await em.execute<Row[]>(ROW);
  if (row === undefined) throw new Error('no row');
  return {
    version: settings.server_version ?? 'of an unknown version',
    isReadOnly: row.standby || settings.default_transaction_read_only === 'on',
    isPooled: row.pid !== (await announcedPid(em)),
    isSuperuser: row.superuser,
    mayCreate: row.creates,
    isolation: settings.default_transaction_isolation ?? '',
    statementTimeout: Number(settings.statement_timeout ?? 0),
    idleSessionTimeout: Number(settings.idle_session_timeout ?? 0),
    connections: connectionsOf(row, settings),
    applied: row.migrated ? await appliedIn(em) : [],
    clock,
  };
};

type Row = {
  readonly standby: boolean;
  readonly pid: number;
  readonly superuser: boolean;
  /** Whether the role may create tables. */
  readonly creates: boolean;
  /** Limits of connections; negative is none. */
  readonly of_role: number;
  readonly of_database: number;
  readonly migrated: boolean;
};
const ROW = `select pg_is_in_recovery() as standby, pg_backend_pid() as pid, rolsuper as superuser,
  coalesce(has_schema_privilege(current_schema(), 'create'), false) as creates, rolconnlimit as of_role,
  (select datconnlimit from pg_database where datname = current_database()) as of_database,
  to_regclass('mikro_orm_migrations') is not null as migrated
  from pg_roles where rolname = current_user`;

const clockOf = async (em: SqlEntityManager) => {
  const before = Date.now();
  const [row] = await em.execute<{ now: number }[]>(
    'select extract(epoch from clock_timestamp())::float8 * 1000 as now',
  );
  return clockFacts(before, row?.now ?? before, Date.now());
};

const SETTINGS = [
  'server_version',
  'default_transaction_read_only',
  'default_transaction_isolation',
  'statement_timeout',
  'idle_session_timeout',
  'max_connections',
  'superuser_reserved_connections',
  'reserved_connections',
] as const;
type Settings = Readonly<Partial<Record<(typeof SETTINGS)[number], string>>>;

/** In PostgreSQL's units: time-outs in milliseconds. */
const settingsOf = async (em: SqlEntityManager): Promise<Settings> => {
  const rows = await em.execute<{ name: string; setting: string }[]>(
    'select name, setting from pg_settings where name in (?)',
    [SETTINGS],
  );
  return Object.fromEntries(rows.map(({ name, setting }) => [name, setting]));
};

const connectionsOf = ({ superuser, of_role, of_database }: Row, settings: Settings): number => {
  const reserved = superuser
    ? 0
    : Number(settings.superuser_reserved_connections ?? 0) + Number(settings.reserved_connections ?? 0);
  const ofServer = Number(settings.max_connections ?? 0) - reserved;
  return Math.min(ofServer, ...[of_role, of_database].filter((limit) => limit >= 0));
};

/** The id that the server announced when it was connected to: a pooler announces one of its own. */
const announcedPid = async (em: SqlEntityManager): Promise<number | null> => {
  // The driver of PostgreSQL has this method; the type of a connection, which all drivers share, does not.
  const connection = em.getConnection() as unknown as { getNativeClient(): Promise<Pool> };
  const client = await (await connection.getNativeClient()).connect();
  client.release();
  return client.processID;
};

/** The part of the driver's pool that is used here. */
type Pool = { connect(): Promise<{ readonly processID: number | null; release(): void }> };

const appliedIn = async (em: SqlEntityManager): Promise<string[]> => {
  const rows = await em.execute<{ name: string }[]>('select name from mikro_orm_migrations order by id');
  return rows.map(({ name }) => name);
};
