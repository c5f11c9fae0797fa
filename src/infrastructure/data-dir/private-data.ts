import { chmodSync, lstatSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** The service's own entries of DATA_DIR. */
const OWN = /^(?:database|keys|mail|run|restoring|tandem\.(?:pid|lock).*)$/;
type OwnDirectory = 'database' | 'keys' | 'mail' | 'run';
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
  const path = join(dataDir, name);
  if (isDedicated(dataDir)) restrict(dataDir);
  if (statSync(path, { throwIfNoEntry: false }) === undefined) return;
  if (!lstatSync(path).isSymbolicLink()) restrict(path);
  const { mode } = statSync(path);
  if ((mode & OTHERS) !== 0) throw new Error(`everybody may enter ${name} in it: its owner must set its mode to 700`);
};

/** Whether the directory belongs to this user and has entries of the service only. A sticky one, such as /tmp, is shared. */
const isDedicated = (dataDir: string): boolean => {
  const stats = statSync(dataDir, { throwIfNoEntry: false });
  if (stats === undefined || stats.uid !== process.geteuid?.() || (stats.mode & STICKY) !== 0) return false;
  return stats.isDirectory() && readdirSync(dataDir).every((name) => OWN.test(name));
};

/** Ignores failures: `keepPrivate` checks the mode at the end. */
const restrict = (path: string): void => {
  try {
    const { mode } = statSync(path);
    if ((mode & GROUP_AND_OTHERS) !== 0) chmodSync(path, mode & 0o7777 & ~GROUP_AND_OTHERS);
  } catch {
    // Checked by the caller.
  }
};
