import { chmodSync, closeSync, lstatSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { memberOf } from './dialects.ts';

/** SQLite makes files beside a database, named by the name of the database and one of these suffixes, and with the mode of the database. */
export const SQLITE_FILE_SUFFIXES = ['-wal', '-shm', '-journal'];
export const GROUP_AND_OTHERS = 0o077;
const BITS_OF_OTHERS = 0o007;

/**
 * Creates the file of a database if necessary. Except on Windows, restricts it, and the files beside it (`isPublicAfterRestricting`).
 * @throws Error if everybody can still access one of these files; Error of the operating system
 */
export const makeDatabasePrivate = (path: string): void => {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  try {
    // `wx` opens no file that exists: closing it would release the locks that SQLite holds on it in this process (fcntl(2)).
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    if (memberOf(error, 'code') !== 'EEXIST') throw error;
  }
  // Windows has no modes of files.
  if (process.geteuid === undefined) return;
  for (const file of ['', ...SQLITE_FILE_SUFFIXES].map((end) => `${path}${end}`))
    if (isPublicAfterRestricting(file))
      throw new Error(`everybody may use ${file}: its owner must set its mode to 600`);
};

/** Tries to restrict a file or directory to its owner, unless the path is a symbolic link. @returns whether everybody can still access it */
export const isPublicAfterRestricting = (path: string): boolean => {
  // The file may be missing: SQLite removes the files beside a database, also in another process.
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === false) restrictToOwner(path);
  const { mode = 0 } = statSync(path, { throwIfNoEntry: false }) ?? {};
  return (mode & BITS_OF_OTHERS) !== 0;
};

/** Removes the permissions of group and others. Ignores failures. */
export const restrictToOwner = (path: string): void => {
  try {
    const { mode } = statSync(path);
    if ((mode & GROUP_AND_OTHERS) !== 0) chmodSync(path, mode & 0o7777 & ~GROUP_AND_OTHERS);
  } catch {}
};
