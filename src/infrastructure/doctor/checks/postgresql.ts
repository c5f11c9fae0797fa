import { inWords } from '../durations.ts';
import { type Finding, note, ok, problem, warning, when } from '../finding.ts';
import type { ClockFacts } from './clock.ts';

export type PostgresqlFacts = {
  readonly version: string;
  /** A standby, or read-only by its settings. */
  readonly isReadOnly: boolean;
  /** Whether a pooler is between. */
  readonly isPooled: boolean;
  readonly isSuperuser: boolean;
  readonly mayCreate: boolean;
  readonly isolation: string;
  /** Milliseconds; 0 is none. */
  readonly statementTimeout: number;
  readonly idleSessionTimeout: number;
  /** How many connections the role can have: the lowest of the limits of server, database and role. */
  readonly connections: number;
  /** Names of applied migrations, in their order; empty before the first one. */
  readonly applied: readonly string[];
  readonly clock: ClockFacts;
};

/** What of the configuration matters here. Milliseconds. */
export type PostgresqlSettings = {
  readonly production: boolean;
  readonly migrateOnStart: boolean;
  readonly poolSize: number;
  readonly statementTimeout: number;
  readonly idleTimeout: number;
  /** Names of all migrations of this version, in their order. */
  readonly migrations: readonly string[];
};

/** @param address of the server, without credentials. */
export const postgresqlFindings = (
  address: string,
  facts: PostgresqlFacts,
  settings: PostgresqlSettings,
): Finding[] => [
  ok('database.reachable', `PostgreSQL ${facts.version} responds at ${address}.`),
  ...ofServer(facts, settings),
  ...migrationFindings(facts, settings),
  ...connectionFindings(facts, settings),
  ...ofLimits(facts, settings),
];

const ofServer = (facts: PostgresqlFacts, { production }: PostgresqlSettings): Finding[] => [
  ...when(facts.isReadOnly, () =>
    problem(
      'database.read-only',
      'The database is read-only: registration, log-in and refresh fail.',
      'Set DATABASE_URL to the address of the writable server.',
    ),
  ),
  ...when(facts.isSuperuser, () =>
    (production ? warning : note)(
      'database.superuser',
      'The role of the service is a superuser.',
      'Give the service a role that owns its database and nothing else.',
    ),
  ),
  ...when(facts.isolation !== 'read committed', () =>
    warning(
      'database.isolation',
      `The default isolation level is ${facts.isolation}: statements that conflict are refused, and a burst of log-ins of one user can fail.`,
      'Leave default_transaction_isolation of server, database and role at read committed.',
    ),
  ),
];

const migrationFindings = (
  { applied, mayCreate, isReadOnly }: Pick<PostgresqlFacts, 'applied' | 'mayCreate' | 'isReadOnly'>,
  { migrations, migrateOnStart }: Pick<PostgresqlSettings, 'migrations' | 'migrateOnStart'>,
): Finding[] => {
  const pending = migrations.filter((name) => !applied.includes(name));
  const unknown = applied.filter((name) => !migrations.includes(name));
  return [
    ...when(unknown.length > 0, () =>
      warning(
        'database.newer',
        `The database has migrations that this version does not know: ${unknown.join(', ')}.`,
        'Run the newest version that has migrated it, on all instances.',
      ),
    ),
    ...when(pending.length === 0, () =>
      ok('database.migrations', `All ${migrations.length} migrations of this version are applied.`),
    ),
    ...when(pending.length > 0, () => {
      const seen = `Not applied yet: ${pending.join(', ')}.`;
      if (!migrateOnStart)
        return problem(
          'database.migrations',
          `${seen} MIGRATE_ON_START is false, so no start applies them.`,
          'Run `npm run migrate` before you start this version.',
        );
      if (!mayCreate || isReadOnly)
        return problem(
          'database.migrations',
          `${seen} The role may not create tables here, so the start fails.`,
          'Run `npm run migrate` with a role that may, or grant it `create` on the schema.',
        );
      return note('database.migrations', seen, 'Nothing: the next start applies them. Back up before an update.');
    }),
  ];
};

/** A second instance is there at least while an update replaces the first. */
const INSTANCES = 2;

const connectionFindings = (facts: PostgresqlFacts, { poolSize }: PostgresqlSettings): Finding[] => {
  if (facts.isPooled)
    return [
      note(
        'database.pooler',
        'A pooler is in front of PostgreSQL; its limits cannot be seen from here.',
        `Set its max_client_conn above DATABASE_POOL_SIZE (${poolSize}) of all instances together: docs/deploy.md, "PgBouncer".`,
      ),
    ];
  // One more while an instance migrates.
  const instances = Math.floor(facts.connections / (poolSize + 1));
  const seen = `PostgreSQL gives this role ${facts.connections} connections, and an instance uses up to ${poolSize}, and one more while it migrates`;
  const advice = 'Lower DATABASE_POOL_SIZE, raise max_connections or the limit of the role, or use PgBouncer.';
  if (instances === 0) return [problem('database.connections', `${seen}: not enough for one instance.`, advice)];
  if (instances < INSTANCES)
    return [warning('database.connections', `${seen}: not enough for a second instance, nor for an update.`, advice)];
  return [ok('database.connections', `${seen}: enough for ${instances} instances.`)];
};

const ofLimits = (facts: PostgresqlFacts, settings: PostgresqlSettings): Finding[] => [
  ...when(facts.statementTimeout > 0 && facts.statementTimeout < settings.statementTimeout, () =>
    note(
      'database.statement-time-out',
      `PostgreSQL cancels statements after ${inWords(facts.statementTimeout)}, before DATABASE_STATEMENT_TIMEOUT (${inWords(settings.statementTimeout)}).`,
      'Nothing, if that is intended: the shorter one applies.',
    ),
  ),
  ...when(facts.idleSessionTimeout > 0 && facts.idleSessionTimeout <= settings.idleTimeout, () =>
    warning(
      'database.idle-time-out',
      `PostgreSQL closes idle connections after ${inWords(facts.idleSessionTimeout)}, not later than DATABASE_IDLE_TIMEOUT (${inWords(settings.idleTimeout)}): requests can get a closed one.`,
      'Set DATABASE_IDLE_TIMEOUT below idle_session_timeout.',
    ),
  ),
];
