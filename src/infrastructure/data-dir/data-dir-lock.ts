import { existsSync, mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemReason } from '../../adapters/redaction/redact-error.ts';

const LOCK_FILE = 'tandem.lock';
const PID_FILE = 'tandem.pid';

/** SQLITE_BUSY */
const BUSY = 5;

/**
 * Locks `dataDir` for this process, and creates it if necessary: two processes would destroy an embedded database.
 * - SQLite locks a file. The kernel holds that lock, releases it when the process ends, and knows it in every container.
 * - The pid in another file is for messages. It also keeps a copy of the directory from being used that was made while its owner ran.
 * @returns releases the lock.
 * @throws Error that names DATA_DIR and the owner's pid, or the system's reason.
 */
export const lockDataDir = (dataDir: string): (() => void) => {
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    const directory = realpathSync(dataDir);
    const file = join(directory, PID_FILE);
    const release = lockFile(join(directory, LOCK_FILE));
    if (release === null) throw new Error(`${inUse(file)}; it may be in another container`);
    try {
      if (isHeld(file)) throw new Error(`${inUse(file)}. If that process is not Tandem, remove ${file}`);
      writeFileSync(file, String(process.pid), { mode: 0o600 });
    } catch (error) {
      release();
      throw error;
    }
    return () => {
      if (contentOf(file) === String(process.pid)) rmSync(file, { force: true });
      release();
    };
  } catch (error) {
    throw new Error(`DATA_DIR (${dataDir}) cannot be used: ${systemReason(error)}`);
  }
};

/**
 * The pid of the process that uses `dataDir`, or whatever else its file contains; `null` when no process does. Changes nothing.
 * @throws Error of the system
 */
export const lockHolder = (dataDir: string): string | null => {
  const file = join(dataDir, PID_FILE);
  return isLocked(join(dataDir, LOCK_FILE)) || isHeld(file) ? (contentOf(file) ?? 'unknown') : null;
};

const inUse = (file: string): string =>
  `process ${contentOf(file) ?? 'unknown'} is using it, and an embedded database supports one process only`;

/** Loads SQLite, which only an embedded database needs. */
const openSqlite = (path: string, options = {}) => {
  const { DatabaseSync } = process.getBuiltinModule('node:sqlite');
  return new DatabaseSync(path, options);
};

/** The open files of locks: one that is collected as garbage is closed, which releases its lock. */
const openLocks = new Set<unknown>();

/** Nothing is ever stored in the file. @returns releases the lock; `null` if another process holds it. */
const lockFile = (path: string): (() => void) | null => {
  const database = openSqlite(path);
  try {
    database.exec('pragma journal_mode = memory; begin exclusive');
  } catch (error) {
    database.close();
    if (isBusy(error)) return null;
    throw error;
  }
  openLocks.add(database);
  return () => {
    if (openLocks.delete(database)) database.close();
  };
};

const isLocked = (path: string): boolean => {
  if (!existsSync(path)) return false;
  const database = openSqlite(path, { readOnly: true });
  try {
    database.exec('select 1 from sqlite_schema');
    return false;
  } catch (error) {
    if (isBusy(error)) return true;
    throw error;
  } finally {
    database.close();
  }
};

const isBusy = (error: unknown): boolean => error instanceof Error && Reflect.get(error, 'errcode') === BUSY;

const isError = (error: unknown, code: string): boolean =>
  error instanceof Error && Reflect.get(error, 'code') === code;

const contentOf = (file: string): string | null => {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (isError(error, 'ENOENT')) return null;
    throw error;
  }
};

/** Whether the file names a process that runs, other than this one, or nothing that is understood. A loss of power leaves an empty file. */
const isHeld = (file: string): boolean => {
  const owner = contentOf(file) ?? '';
  if (owner === '' || owner === String(process.pid)) return false;
  if (!/^[1-9]\d*$/.test(owner)) return true;
  try {
    process.kill(Number(owner), 0);
    return true;
  } catch (error) {
    return !isError(error, 'ESRCH');
  }
};

/** PostgreSQL writes this file when it creates a database. */
export const hasDatabase = (dataDir: string): boolean => existsSync(join(dataDir, 'database', 'PG_VERSION'));

/** The directory in DATA_DIR to which a backup is restored, before it gets its place. */
export const RESTORING = 'restoring';

/** After an interrupted restore, the service would start with a new, empty database. @throws Error */
export const assertNotRestoring = (dataDir: string): void => {
  const path = join(dataDir, RESTORING);
  if (existsSync(path))
    throw new Error(`A backup was not restored to the end. Restore it again, or remove ${path} to start without it.`);
};
