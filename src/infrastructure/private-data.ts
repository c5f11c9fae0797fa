import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { GROUP_AND_OTHERS, isPublicAfterRestricting, restrictToOwner } from '../adapters/mikro-orm/private-file.ts';

/** Matches the names of files and directories that the service makes in DATA_DIR. */
const OWN_NAMES = /^(?:database\.sqlite.*|keys|mail)$/;
const STICKY = 0o1000;

/** Makes files that this process creates from now on accessible only to its user, unless their mode is changed afterwards. */
export const makeFilesPrivate = (): void => {
  process.umask(GROUP_AND_OTHERS);
};

/** Tries to restrict `dataDir` (`restrictOwnDirectory`) and a directory in it. @throws Error if everybody can still access the directory in it */
export const restrictDirectory = (dataDir: string, name: 'keys' | 'mail'): void => {
  // Windows has no modes of files.
  if (process.geteuid === undefined) return;
  restrictOwnDirectory(dataDir);
  if (isPublicAfterRestricting(join(dataDir, name)))
    throw new Error(`everybody may enter ${name} in it: its owner must set its mode to 700`);
};

/** Restricts a directory to its owner, if this user owns it, and all files in it are of the service. A sticky directory, such as /tmp, stays shared. */
export const restrictOwnDirectory = (path: string): void => {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined || stats.uid !== process.geteuid?.() || (stats.mode & STICKY) !== 0) return;
  if (stats.isDirectory() && readdirSync(path).every((name) => OWN_NAMES.test(name))) restrictToOwner(path);
};
