import { accessSync } from 'node:fs';
import { type Database, openDatabase } from '../../../adapters/mikro-orm/open-database.ts';
import type { DatabaseOptions } from '../../../adapters/mikro-orm/options.ts';
import type { SchemaState } from '../../../adapters/mikro-orm/schema.ts';
import type { Config } from '../../config.ts';
import { clockFinding } from './clock.ts';
import { type Finding, type Findings, note, ok, problem, QUESTION_TIMEOUT, type SetUp, warning } from './finding.ts';

/** Examines the database over one connection, without changing it. */
export const database = async ({ config }: Pick<SetUp, 'config'>): Promise<Findings> => {
  const { database: options, migrateOnStart } = config;
  if (options.kind === 'sqlite' && !isThere(options.path)) return missing(options.path, migrateOnStart);
  const opened = await openDatabase(bounded(options), { migrate: false }).catch((error: Error) => error);
  if (opened instanceof Error)
    return problem(
      'database.unreachable',
      opened.message,
      options.kind === 'sqlite'
        ? 'Check the owner and the mode of the file and of its directory.'
        : 'Check that it runs, that this machine may reach it, its certificate, the role and the password.',
    );
  try {
    return await findingsOf(opened, config);
  } finally {
    await opened.close();
  }
};

/** @throws Error of the system if a file is in the way of the directory */
const isThere = (path: string): boolean => {
  try {
    accessSync(path);
    return true;
  } catch (error) {
    if (error instanceof Error && Reflect.get(error, 'code') === 'ENOENT') return false;
    throw error;
  }
};

const bounded = (options: DatabaseOptions): DatabaseOptions =>
  options.kind === 'sqlite'
    ? options
    : {
        ...options,
        poolSize: 1,
        connectionTimeout: Math.min(options.connectionTimeout, QUESTION_TIMEOUT),
        statementTimeout: QUESTION_TIMEOUT,
      };

const missing = (path: string, migrateOnStart: boolean): Finding => {
  const seen = `There is no database ${path} yet`;
  return migrateOnStart
    ? note('database.missing', `${seen}.`, 'Nothing: the first start creates it.')
    : problem(
        'database.missing',
        `${seen}, and MIGRATE_ON_START is false: it would stay without tables.`,
        'Run `npx tandem migrate`.',
      );
};

const findingsOf = async ({ examine, ping, readTime }: Database, config: Config): Promise<Finding[]> => {
  const { version, mayCreate, schema } = await examine();
  const hasTables = !schema.pending.includes('tables');
  const refused = hasTables
    ? await ping().then(
        () => null,
        (error: unknown) => error,
      )
    : null;
  return [
    ok('database.reachable', `${version} responds.`),
    ...(refused === null ? [] : [READ_ONLY]),
    ...schemaFindings(schema, config.migrateOnStart, mayCreate),
    ...(readTime === null ? [] : [await clockOf(readTime)]),
  ];
};

const READ_ONLY = problem(
  'database.read-only',
  'The database refuses to write, or a table is locked: registration, log-in and refresh fail.',
  'Set DATABASE_URL to the address of the writable server, and let the role write to all tables.',
);

const clockOf = async (readTime: () => Promise<number>): Promise<Finding> => {
  const before = Date.now();
  const other = await readTime();
  return clockFinding('database.clock', { before, other, after: Date.now() });
};

const schemaFindings = ({ pending, unknown }: SchemaState, migrateOnStart: boolean, mayCreate: boolean): Finding[] => {
  const newer = warning(
    'database.newer',
    `The database has migrations that this version does not know: ${unknown.join(', ')}.`,
    'Run the newest version that has migrated it, on all instances.',
  );
  return [...(unknown.length === 0 ? [] : [newer]), ofPending(pending.join(', '), migrateOnStart, mayCreate)];
};

const ofPending = (pending: string, migrateOnStart: boolean, mayCreate: boolean): Finding => {
  const id = 'database.migrations';
  if (pending === '') return ok(id, 'All migrations of this version are applied.');
  const seen = `Not applied yet: ${pending}.`;
  if (migrateOnStart && mayCreate)
    return note(id, seen, 'Nothing: the next start applies them. Back up before an update.');
  const why = migrateOnStart ? 'The role may not create tables here' : 'MIGRATE_ON_START is false';
  return problem(id, `${seen} ${why}: no start applies them.`, 'Run `npx tandem migrate` with a role that may.');
};
