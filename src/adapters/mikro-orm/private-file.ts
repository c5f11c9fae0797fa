import { chmodSync, closeSync, lstatSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { field } from './dialects.ts';

/** The ends of the names of files that SQLite keeps beside a database. It gives them the mode of the database. */
export const BESIDE_DATABASES = ['-wal', '-shm', '-journal'];
export const GROUP_AND_OTHERS = 0o077;
const OTHERS = 0o007;

/**
 * Creates the file of a database if necessary, and restricts it, with the files that SQLite keeps beside it, to its owner.
 * @throws Error when everybody can still access one of them
 */
export const makeDatabasePrivate = (path: string): void => {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  try {
    // A file that exists must not be opened: to close it would release the locks that SQLite holds on it in this process (fcntl(2)).
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    if (field(error, 'code') !== 'EEXIST') throw error;
  }
  // Windows has no such permissions.
  if (process.geteuid === undefined) return;
  for (const file of ['', ...BESIDE_DATABASES].map((end) => `${path}${end}`))
    if (isForEverybody(file)) throw new Error(`everybody may use ${file}: its owner must set its mode to 600`);
};

/** Restricts a path to its owner, unless it is a link. @returns whether other users can still access it. */
export const isForEverybody = (path: string): boolean => {
  // Another process may remove a file that SQLite keeps beside its database.
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === false) restrict(path);
  const { mode = 0 } = statSync(path, { throwIfNoEntry: false }) ?? {};
  return (mode & OTHERS) !== 0;
};

/** Ignores failures: the mode is checked afterwards. */
export const restrict = (path: string): void => {
  try {
    const { mode } = statSync(path);
    if ((mode & GROUP_AND_OTHERS) !== 0) chmodSync(path, mode & 0o7777 & ~GROUP_AND_OTHERS);
  } catch {
    // The caller checks the mode.
  }
};
