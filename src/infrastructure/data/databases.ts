import { existsSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import type { Database } from '../../adapters/mikro-orm/open-database.ts';
import { SQLITE_FILE_SUFFIXES } from '../../adapters/mikro-orm/private-file.ts';
import { TABLES } from '../../application/storage/tables.ts';
import { CommandError, type Status } from '../command-error.ts';
import { type RowCounts, TABLE_NAMES } from './rows.ts';

export const assertHasDatabase = (path: string, status: Status = 3): void => {
  if (!existsSync(path)) throw new CommandError('no-database', `There is no database at ${path}.`, status);
};

export const assertHasNoDatabase = (path: string): void => {
  const taken = ['', ...SQLITE_FILE_SUFFIXES].map((end) => `${path}${end}`).find((file) => existsSync(file));
  if (taken !== undefined)
    throw new CommandError('database-exists', `${taken} exists. Move it away, or use another place.`);
};

const BUSY_TIMEOUT_MS = 10_000;

export const withDatabase = <Result>(path: string, work: (database: DatabaseSync) => Result): Result => {
  const { DatabaseSync } = process.getBuiltinModule('node:sqlite');
  const database = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS });
  try {
    return work(database);
  } finally {
    database.close();
  }
};

export const isDamaged = (database: DatabaseSync): boolean =>
  database.prepare('pragma integrity_check(1)').get()?.integrity_check !== 'ok';

/** Counts the rows of each table of the service that exists. @throws CommandError if there is none; Error of SQLite */
export const countRows = (path: string, prefix: string): RowCounts =>
  withDatabase(path, (database) => {
    const hasTable = database.prepare(`select 1 from sqlite_schema where type = 'table' and name = ?`);
    const tables = TABLE_NAMES.map((table) => [table, `${prefix}${TABLES[table].name}`] as const);
    const existingTables = tables.filter(([, name]) => hasTable.get(name) !== undefined);
    if (existingTables.length === 0) throw noTablesError('The database');
    const count = (name: string) => database.prepare(`select count(*) as count from "${name}"`).get()?.count;
    return Object.fromEntries(existingTables.map(([table, name]) => [table, Number(count(name))]));
  });

export const noTablesError = (subject: string): CommandError =>
  new CommandError('no-tables', `${subject} has no tables of Tandem. Is DATABASE_TABLE_PREFIX right?`);

/**
 * Refuses a database that a newer version has migrated, since this version does not know all its columns.
 * @param subject of the error's message, such as "The backup"
 * @returns `pending` of its `SchemaState`
 */
export const assertNotNewer = async ({ examine }: Database, subject: string): Promise<readonly string[]> => {
  const { pending, unknown } = (await examine()).schema;
  if (unknown.length > 0)
    throw new CommandError('other-version', `${subject} is that of a newer version of Tandem. Use that version.`);
  return pending;
};
