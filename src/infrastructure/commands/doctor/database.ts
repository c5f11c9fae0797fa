import type { SqlEntityManager } from '@mikro-orm/sql';
import { MIGRATION_NAMES } from '../../../adapters/mikro-orm/migrations/migrations.ts';
import { asTyped } from '../../as-typed.ts';
import type { Config } from '../../config.ts';
import { hasDatabase, lockHolder } from '../../data-dir/data-dir-lock.ts';
import { openDatabase } from '../../database/database.ts';
import { clockFinding } from './clock.ts';
import { type Finding, type Findings, note, ok, problem, QUESTION_TIMEOUT, type SetUp, warning } from './finding.ts';

export const database = async ({ config }: Pick<SetUp, 'config'>): Promise<Findings> => {
  const { database: options } = config;
  if (options.kind === 'postgresql') return postgresql(config, options);
  return embedded(options.dataDir, config.migrateOnStart);
};

/** Does not open the database, which would write to it, and lock out the service. */
const embedded = (dataDir: string, migrateOnStart: boolean): Finding => {
  const holder = lockHolder(dataDir);
  if (holder !== null) return ofHolder(holder);
  if (hasDatabase(dataDir))
    return ok(
      'database.idle',
      'DATA_DIR has an embedded database, and no process uses it. Its migrations were not examined.',
    );
  const seen = 'DATA_DIR has no database yet';
  return migrateOnStart
    ? note('database.missing', `${seen}.`, 'Nothing: the first start creates it.')
    : problem(
        'database.missing',
        `${seen}, and MIGRATE_ON_START is false: it would stay without tables.`,
        asTyped('Run `npm run migrate`.'),
      );
};

const ofHolder = (holder: string): Finding =>
  /^[1-9]\d{0,9}$/.test(holder)
    ? note(
        'database.in-use',
        `Process ${holder} uses the embedded database, so it was not examined.`,
        'Ask the running service: `GET /health/ready`. If that process is not Tandem, remove tandem.pid from DATA_DIR.',
      )
    : problem(
        'database.lock',
        'tandem.pid in DATA_DIR names no process: the service does not start.',
        'Make sure that no process uses DATA_DIR, and remove tandem.pid.',
      );

type Options = Extract<Config['database'], { kind: 'postgresql' }>;

/** Examines a PostgreSQL over one connection, without writing. */
const postgresql = async (config: Config, options: Options): Promise<Findings> => {
  const bounded = {
    ...options,
    poolSize: 1,
    connectionTimeout: Math.min(options.connectionTimeout, QUESTION_TIMEOUT),
    statementTimeout: QUESTION_TIMEOUT,
  };
  const database = await openDatabase(bounded, { migrate: false }).catch((error: Error) => error);
  if (database instanceof Error)
    return problem(
      'database.unreachable',
      database.message,
      'Check that it runs, that this machine may reach it, its certificate, the role and the password.',
    );
  try {
    return await findingsOf(database.em, config);
  } finally {
    await database.close();
  }
};

type Row = {
  readonly version: string;
  readonly now: number;
  /** A standby, or read-only by its settings. */
  readonly read_only: boolean;
  /** Whether the role may create tables. */
  readonly creates: boolean;
  /** Whether there is a table of applied migrations. */
  readonly has_migrations: boolean;
};
const ROW = `select current_setting('server_version') as version,
  extract(epoch from clock_timestamp())::float8 * 1000 as now,
  pg_is_in_recovery() or current_setting('default_transaction_read_only')::boolean as read_only,
  coalesce(has_schema_privilege(current_schema(), 'create'), false) as creates,
  to_regclass('mikro_orm_migrations') is not null as has_migrations`;

const findingsOf = async (em: SqlEntityManager, config: Config): Promise<Finding[]> => {
  const before = Date.now();
  const [row] = await em.execute<Row[]>(ROW);
  const after = Date.now();
  if (row === undefined) throw new Error('no row');
  const rows = row.has_migrations ? await em.execute<{ name: string }[]>('select name from mikro_orm_migrations') : [];
  const applied = rows.map(({ name }) => name);
  const readOnly = problem(
    'database.read-only',
    'The database is read-only: registration, log-in and refresh fail.',
    'Set DATABASE_URL to the address of the writable server.',
  );
  return [
    ok('database.reachable', `PostgreSQL ${row.version} responds.`),
    ...(row.read_only ? [readOnly] : []),
    ...migrationFindings(applied, config.migrateOnStart, row.creates && !row.read_only),
    clockFinding('database.clock', { before, other: row.now, after }),
  ];
};

const migrationFindings = (applied: readonly string[], migrateOnStart: boolean, mayCreate: boolean): Finding[] => {
  const unknown = applied.filter((name) => !MIGRATION_NAMES.includes(name)).join(', ');
  const newer = warning(
    'database.newer',
    `The database has migrations that this version does not know: ${unknown}.`,
    'Run the newest version that has migrated it, on all instances.',
  );
  const pending = MIGRATION_NAMES.filter((name) => !applied.includes(name)).join(', ');
  return [...(unknown === '' ? [] : [newer]), ofPending(pending, migrateOnStart, mayCreate)];
};

const ofPending = (pending: string, migrateOnStart: boolean, mayCreate: boolean): Finding => {
  const id = 'database.migrations';
  if (pending === '') return ok(id, 'All migrations of this version are applied.');
  const seen = `Not applied yet: ${pending}.`;
  if (migrateOnStart && mayCreate)
    return note(id, seen, 'Nothing: the next start applies them. Back up before an update.');
  const why = migrateOnStart ? 'The role may not create tables here' : 'MIGRATE_ON_START is false';
  return problem(id, `${seen} ${why}: no start applies them.`, asTyped('Run `npm run migrate` with a role that may.'));
};
