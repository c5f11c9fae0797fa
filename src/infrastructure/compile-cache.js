// @ts-check
import { lstatSync, mkdirSync } from 'node:fs';
// `module` is a default import, since Node.js 20 does not export `enableCompileCache`, and has to load this file before `main.js` can refuse it.
import module from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const HERE = fileURLToPath(import.meta.url);
/** The `node_modules` in which this package is installed, or in a checkout, the `node_modules` of the project. */
const MODULES =
  /^.*[\\/]node_modules(?=[\\/])/.exec(HERE)?.[0] ?? fileURLToPath(new URL('../../node_modules', import.meta.url));
const ROOT_UID = 0;
const GROUP_AND_OTHERS_WRITE = 0o022;

/**
 * Makes Node.js store the compiled code of all modules that are loaded from now on, next to the installed packages (ADR 0021).
 * NODE_COMPILE_CACHE and NODE_DISABLE_COMPILE_CACHE take precedence. Does nothing if there is no safe directory.
 */
export const useCompileCache = (modules = MODULES) => {
  const directory = safeDirectory(modules);
  if (directory !== null) module.enableCompileCache(directory);
};

/**
 * The directory of the cache, if only this user and root can write to it: Node.js executes the code that it finds there.
 * @param {string} modules
 * @returns {string | null}
 */
const safeDirectory = (modules) => {
  const directory = join(modules, '.cache', 'tandem', 'compile');
  try {
    if (isOwn(modules)) mkdirSync(directory, { recursive: true, mode: 0o700 });
    const parent = dirname(directory);
    return [dirname(parent), parent, directory].every(isSafe) ? directory : null;
  } catch {
    return null;
  }
};

/**
 * Whether the path belongs to this user. If another user made the cache, the owner of the packages could not use it.
 * @param {string} path
 */
const isOwn = (path) => process.geteuid === undefined || lstatSync(path).uid === process.geteuid();

/**
 * Whether the path is a directory, not a symbolic link, to which only this user or root can write. Windows has no modes of files.
 * @param {string} path
 */
const isSafe = (path) => {
  const stats = lstatSync(path);
  if (!stats.isDirectory()) return false;
  if (process.geteuid === undefined) return true;
  return [ROOT_UID, process.geteuid()].includes(stats.uid) && (stats.mode & GROUP_AND_OTHERS_WRITE) === 0;
};
