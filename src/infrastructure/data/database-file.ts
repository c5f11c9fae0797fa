import { existsSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { TABLES } from '../../adapters/records/tables.ts';
import { CommandError } from '../command-error.ts';
import { type RowCounts, TABLE_NAMES } from './rows.ts';
import { noTables } from './schema-check.ts';

/** What SQLite keeps beside a database: a log of changes that belongs to that one alone. */
const BESIDE = ['-wal', '-shm', '-journal'];

/** @throws CommandError */
export const assertHasDatabase = (path: string): void => {
  if (!existsSync(path)) throw new CommandError('no-database', `There is no database at ${path}.`);
};

/** @throws CommandError */
export const assertHasNoDatabase = (path: string): void => {
  const taken = ['', ...BESIDE].map((end) => `${path}${end}`).find((file) => existsSync(file));
  if (taken !== undefined)
    throw new CommandError('database-exists', `${taken} exists. Move it away, or use another place.`);
};

/** Milliseconds that a statement waits for another process. */
const BUSY_TIMEOUT = 10_000;

/** Works with a file of SQLite, and closes it. Loads SQLite, which only such a file needs. */
export const withDatabase = <Result>(path: string, work: (database: DatabaseSync) => Result): Result => {
  const { DatabaseSync } = process.getBuiltinModule('node:sqlite');
  const database = new DatabaseSync(path, { timeout: BUSY_TIMEOUT });
  try {
    return work(database);
  } finally {
    database.close();
  }
};

/** What is wrong with a file of SQLite; `null` if it is whole. */
export const damageOf = (database: DatabaseSync): string | null => {
  const [row] = database.prepare('pragma integrity_check(1)').all();
  return row?.integrity_check === 'ok' ? null : 'SQLite finds errors in it';
};

/** Counts the rows of the tables whose names begin with a prefix. @throws CommandError when there are none */
export const countRows = (path: string, prefix: string): RowCounts =>
  withDatabase(path, (database) => {
    const hasTable = database.prepare(`select 1 from sqlite_schema where type = 'table' and name = ?`);
    const tables = TABLE_NAMES.map((table) => [table, `${prefix}${TABLES[table].name}`] as const);
    const found = tables.filter(([, name]) => hasTable.get(name) !== undefined);
    if (found.length === 0) throw noTables('The database');
    const count = (name: string) => database.prepare(`select count(*) as count from "${name}"`).get()?.count;
    return Object.fromEntries(found.map(([table, name]) => [table, Number(count(name))]));
  });
