import { constants } from 'node:fs';
import { type FileHandle, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';

/** A file or a directory of a database. `name` is its path below the directory of the database, with slashes. */
export type DatabaseFile = { readonly name: string; readonly isDirectory: boolean };

/**
 * What PostgreSQL's manual leaves out of a copy ("Backing Up the Data Directory"): what a start makes anew, and the files of the process.
 * WAL is copied at the end.
 */
const EMPTIED = new Set([
  'pg_wal',
  'pg_replslot',
  'pg_dynshmem',
  'pg_notify',
  'pg_serial',
  'pg_snapshots',
  'pg_stat_tmp',
  'pg_subtrans',
]);
const LEFT_OUT =
  /^(?:postmaster\.(?:pid|opts)|backup_label.*|tablespace_map.*|backup_manifest|pg_internal\.init.*|pgsql_tmp.*)$/;
/** PostgreSQL expects these directories, and makes only some of them. */
const KEPT_EMPTY = new Set(['pg_wal/archive_status', 'pg_wal/summaries']);

/** What belongs into a copy of a database, parents first. Files may vanish while this runs. */
export const databaseFiles = async function* (directory: string, below = ''): AsyncGenerator<DatabaseFile> {
  for (const entry of await entriesOf(join(directory, below))) {
    const name = below === '' ? entry.name : `${below}/${entry.name}`;
    if (LEFT_OUT.test(entry.name) || (isEmptied(below) && !KEPT_EMPTY.has(name))) continue;
    if (entry.isDirectory()) {
      yield { name, isDirectory: true };
      yield* databaseFiles(directory, name);
    } else if (entry.isFile()) yield { name, isDirectory: false };
    else throw new Error(`${name} is neither a file nor a directory`);
  }
};

const isEmptied = (below: string): boolean => EMPTIED.has(below.split('/')[0] ?? '');

const WAL_NAME = /^[0-9A-F]{24}$/;

/** The files of WAL from the first to the last name. @throws Error when one of these two is missing. */
export const walFiles = async (directory: string, first: string, last: string): Promise<string[]> => {
  const names = (await entriesOf(join(directory, 'pg_wal'))).map(({ name }) => name);
  const needed = names.filter((name) => WAL_NAME.test(name) && first <= name && name <= last).sort();
  if (needed[0] !== first || needed.at(-1) !== last) throw new Error('WAL of the backup is missing. Try again.');
  return needed.map((name) => `pg_wal/${name}`);
};

/** Opens a file to read it, unless it is a link. @returns `null` when it has vanished, with its table. */
export const openFile = async (path: string): Promise<FileHandle | null> => {
  try {
    return await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
};

const entriesOf = async (path: string) => {
  try {
    return (await readdir(path, { withFileTypes: true })).sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
};

const isMissing = (error: unknown): boolean => error instanceof Error && Reflect.get(error, 'code') === 'ENOENT';
