import { chmodSync, lstatSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** What the service has in DATA_DIR. */
const OWN = /^(?:database|keys|tandem\.pid.*)$/;
const GROUP_AND_OTHERS = 0o077;
const OTHERS = 0o007;
const STICKY = 0o1000;

/** For the whole process: what it makes from now on is its user's alone. */
export const makeFilesPrivate = (): void => {
  process.umask(GROUP_AND_OTHERS);
};

/** Makes a directory of the service's in `dataDir` where there is none, and keeps it private. */
export const makePrivate = (dataDir: string, name: 'database' | 'keys'): void => {
  const path = join(dataDir, name);
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) mkdirSync(path, { mode: 0o700 });
  keepPrivate(dataDir, name);
};

/**
 * Leaves a directory of the service's in `dataDir` to its owner alone, with all that is in it: it may have been made under
 * another umask, or come from a backup. `dataDir` is closed as well when it is this user's and holds nothing else. What belongs
 * to another user, as a mounted volume may, stays as it is, and links are not followed.
 * @throws Error when everybody may enter the directory all the same.
 */
export const keepPrivate = (dataDir: string, name: 'database' | 'keys'): void => {
  // Windows has no such rights.
  if (process.geteuid === undefined) return;
  const path = join(dataDir, name);
  if (isOwn(dataDir)) close(dataDir);
  if (statSync(path, { throwIfNoEntry: false }) === undefined) return;
  closeTree(path);
  const { mode } = statSync(path);
  if ((mode & OTHERS) !== 0)
    throw new Error(`everybody may enter ${name} in it: make its mode 700, or have its owner do so`);
};

/** A sticky directory, such as /tmp, is there for everybody. */
const isOwn = (dataDir: string): boolean => {
  const stats = statSync(dataDir, { throwIfNoEntry: false });
  if (stats === undefined || stats.uid !== process.geteuid?.() || (stats.mode & STICKY) !== 0) return false;
  return stats.isDirectory() && readdirSync(dataDir).every((name) => OWN.test(name));
};

/** Not by `readdir`'s `recursive`, which follows links to directories. */
const closeTree = (path: string): void => {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined || stats.isSymbolicLink()) return;
  close(path);
  if (stats.isDirectory()) for (const name of readdirSync(path)) closeTree(join(path, name));
};

/** Without a word of what cannot be closed, or is gone by now: what counts is whether others get in. */
const close = (path: string): void => {
  try {
    const { mode } = statSync(path);
    if ((mode & GROUP_AND_OTHERS) !== 0) chmodSync(path, mode & 0o7777 & ~GROUP_AND_OTHERS);
  } catch {
    // Judged by its directory.
  }
};
