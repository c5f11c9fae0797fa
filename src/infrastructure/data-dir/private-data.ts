import { lstatSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { isDedicated, isForEverybody, restrict } from '../../adapters/mikro-orm/private-file.ts';

type OwnDirectory = 'keys' | 'mail';
const GROUP_AND_OTHERS = 0o077;

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
