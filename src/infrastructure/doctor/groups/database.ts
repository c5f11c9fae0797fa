import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { MIGRATIONS } from '../../../adapters/mikro-orm/migrations/migrations-list.ts';
import type { Config } from '../../config.ts';
import { lockHolder } from '../../data-dir/data-dir-lock.ts';
import { clockFindings } from '../checks/clock.ts';
import { embeddedFindings } from '../checks/embedded.ts';
import { type PostgresqlFacts, postgresqlFindings } from '../checks/postgresql.ts';
import { type Finding, note, problem } from '../finding.ts';
import type { Patient } from '../patient.ts';
import { addressOf, askPostgresql } from '../probes/postgresql.ts';
import { Unreachable } from '../probes/unreachable.ts';

export const database = async (patient: Patient): Promise<Finding[]> => {
  const { database: options } = patient.config;
  if (options.kind === 'postgresql') return postgresql(patient, options);
  if (options.kind === 'memory')
    return [note('database.memory', 'Users and sessions are kept in memory.', 'Set DATABASE_URL to keep them.')];
  return embeddedFindings({
    exists: existsSync(join(options.dataDir, 'database', 'PG_VERSION')),
    holder: lockHolder(options.dataDir),
    migrateOnStart: patient.config.migrateOnStart,
  });
};

type PostgresqlOptions = Extract<Config['database'], { kind: 'postgresql' }>;

const postgresql = async ({ config }: Patient, options: PostgresqlOptions): Promise<Finding[]> => {
  const address = addressOf(options.url);
  let facts: PostgresqlFacts;
  try {
    facts = await askPostgresql(options);
  } catch (error) {
    if (!(error instanceof Unreachable)) throw error;
    return [
      problem(
        'database.unreachable',
        error.message,
        `Check that PostgreSQL runs at ${address}, that this machine may reach it, and the role and the password.`,
      ),
    ];
  }
  const settings = {
    production: config.environment === 'production',
    migrateOnStart: config.migrateOnStart,
    poolSize: options.poolSize,
    statementTimeout: options.statementTimeout,
    idleTimeout: options.idleTimeout,
    migrations: MIGRATIONS.map(({ name }) => name),
  };
  return [
    ...postgresqlFindings(address, facts, settings),
    ...clockFindings('database.clock', 'the database', facts.clock, config.raceWindow),
  ];
};
