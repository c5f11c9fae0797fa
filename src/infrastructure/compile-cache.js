// @ts-check
import { lstatSync, mkdirSync } from 'node:fs';
// As a default import, since Node.js 20, which main.js refuses, does not export `enableCompileCache`.
import module from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const HERE = fileURLToPath(import.meta.url);
/** The `node_modules` in which this package is installed, or that of the checkout. */
const MODULES =
  /^.*[\\/]node_modules(?=[\\/])/.exec(HERE)?.[0] ?? fileURLToPath(new URL('../../node_modules', import.meta.url));
const ROOT_UID = 0;
const GROUP_AND_OTHERS_WRITE = 0o022;

/**
 * Makes Node keep the compiled code of everything that is imported from now on, next to the installed packages (ADR 0021).
 * NODE_COMPILE_CACHE and NODE_DISABLE_COMPILE_CACHE take precedence. Does nothing without a safe directory.
 */
export const useCompileCache = (modules = MODULES) => {
  const directory = safeDirectory(modules);
  if (directory !== null) module.enableCompileCache(directory);
};

/**
 * A directory that no other user can write to, since Node executes what it finds there.
 * @param {string} modules
 * @returns {string | null} `null` when there is none.
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
 * Whether the path belongs to this user: a cache that another user makes would keep the owner of the packages from making one.
 * @param {string} path
 */
const isOwn = (path) => process.geteuid === undefined || lstatSync(path).uid === process.geteuid();

/**
 * A directory, not a link, that only this user or root can write to. Windows has no such permissions.
 * @param {string} path
 */
const isSafe = (path) => {
  const stats = lstatSync(path);
  if (!stats.isDirectory()) return false;
  if (process.geteuid === undefined) return true;
  return [ROOT_UID, process.geteuid()].includes(stats.uid) && (stats.mode & GROUP_AND_OTHERS_WRITE) === 0;
};
