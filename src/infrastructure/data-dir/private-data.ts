import { chmodSync, closeSync, lstatSync, mkdirSync, openSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The service's own entries of DATA_DIR. */
const OWN = /^(?:database\.sqlite.*|keys|mail)$/;
type OwnDirectory = 'keys' | 'mail';
/** SQLite gives them the mode of the database when it makes them. */
const BESIDE_DATABASES = ['-wal', '-shm', '-journal'];
const GROUP_AND_OTHERS = 0o077;
const OTHERS = 0o007;
const STICKY = 0o1000;

/** From now on, only the user of this process can access the files that it creates. */
export const makeFilesPrivate = (): void => {
  process.umask(GROUP_AND_OTHERS);
};

/** Creates a directory of the service in `dataDir` if necessary, and makes it private. */
export const makePrivate = (dataDir: string, name: OwnDirectory): void => {
  const path = join(dataDir, name);
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) mkdirSync(path, { mode: 0o700 });
  keepPrivate(dataDir, name);
};

/**
 * Restricts a directory of the service in `dataDir` to its owner, so that nobody else can reach the files in it. Restricts `dataDir` as
 * well if it belongs to this user and has no other entries. Does not change directories of other users, such as those of a mounted volume,
 * and does not follow links.
 * @throws Error when other users can still access the directory.
 */
export const keepPrivate = (dataDir: string, name: OwnDirectory): void => {
  // Windows has no such permissions.
  if (process.geteuid === undefined) return;
  if (isDedicated(dataDir)) restrict(dataDir);
  if (isForEverybody(join(dataDir, name)))
    throw new Error(`everybody may enter ${name} in it: its owner must set its mode to 700`);
};

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
const isForEverybody = (path: string): boolean => {
  // Another process may remove a file that SQLite keeps beside its database.
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === false) restrict(path);
  const { mode = 0 } = statSync(path, { throwIfNoEntry: false }) ?? {};
  return (mode & OTHERS) !== 0;
};

/** Whether the directory belongs to this user and has entries of the service only. A sticky one, such as /tmp, is shared. */
const isDedicated = (dataDir: string): boolean => {
  const stats = statSync(dataDir, { throwIfNoEntry: false });
  if (stats === undefined || stats.uid !== process.geteuid?.() || (stats.mode & STICKY) !== 0) return false;
  return stats.isDirectory() && readdirSync(dataDir).every((name) => OWN.test(name));
};

/** Ignores failures: the mode is checked afterwards. */
const restrict = (path: string): void => {
  try {
    const { mode } = statSync(path);
    if ((mode & GROUP_AND_OTHERS) !== 0) chmodSync(path, mode & 0o7777 & ~GROUP_AND_OTHERS);
  } catch {
    // The caller checks the mode.
  }
};
