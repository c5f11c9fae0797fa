import { chmodSync, closeSync, lstatSync, mkdirSync, openSync, readdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/** The service's own entries of DATA_DIR. */
const OWN = /^(?:database\.sqlite.*|keys|mail)$/;
/** SQLite gives them the mode of the database when it makes them. */
const BESIDE_DATABASES = ['-wal', '-shm', '-journal'];
const GROUP_AND_OTHERS = 0o077;
const OTHERS = 0o007;
const STICKY = 0o1000;

/**
 * Creates the file of a database if necessary, with its directory, and restricts it to its owner as `keepPrivate` does, with the files that
 * SQLite keeps beside it.
 * @throws Error when other users can still access one of them; Error of the system
 */
export const makeDatabasePrivate = (path: string): void => {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  createUnlessThere(path);
  if (process.geteuid === undefined) return;
  if (isDedicated(dirname(path))) restrict(dirname(path));
  for (const file of ['', ...BESIDE_DATABASES].map((end) => `${path}${end}`))
    if (isForEverybody(file)) throw new Error(`everybody may use ${file}: its owner must set its mode to 600`);
};

/** Opens no file that exists: to close it would release the locks that SQLite holds on it in this process (fcntl(2)). */
const createUnlessThere = (path: string): void => {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    if (!(error instanceof Error && Reflect.get(error, 'code') === 'EEXIST')) throw error;
  }
};

/** Restricts a path to its owner, unless it is a link. @returns whether other users can access it all the same. */
export const isForEverybody = (path: string): boolean => {
  // Another process may remove a file that SQLite keeps beside its database.
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === false) restrict(path);
  const { mode = 0 } = statSync(path, { throwIfNoEntry: false }) ?? {};
  return (mode & OTHERS) !== 0;
};

/** Whether the directory belongs to this user and has entries of the service only. A sticky one, such as /tmp, is shared. */
export const isDedicated = (dataDir: string): boolean => {
  const stats = statSync(dataDir, { throwIfNoEntry: false });
  if (stats === undefined || stats.uid !== process.geteuid?.() || (stats.mode & STICKY) !== 0) return false;
  return stats.isDirectory() && readdirSync(dataDir).every((name) => OWN.test(name));
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
