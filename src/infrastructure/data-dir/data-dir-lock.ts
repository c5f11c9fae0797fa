import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { systemReason } from '../../adapters/redaction/redact-error.ts';

const FILE_NAME = 'tandem.pid';

/** The lock files that this process holds. A stale file may have the same pid. */
const held = new Set<string>();

/**
 * Locks `dataDir` for this process, and creates it if necessary: two processes would destroy an embedded database. Like PostgreSQL's
 * `postmaster.pid`, the lock file has the pid of its owner, and a stale lock is taken over. Does not protect against processes in other
 * containers that share the volume.
 * @returns releases the lock.
 * @throws Error that names DATA_DIR and the owner's pid, or the system's reason.
 */
export const lockDataDir = (dataDir: string): (() => void) => {
  const own = String(process.pid);
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    const file = join(realpathSync(dataDir), FILE_NAME);
    while (!created(file, own)) {
      const owner = contentOf(file);
      if (owner === null) continue;
      if (held.has(file) || !isLeftover(owner)) throw inUse(file, owner);
      discard(file, owner);
    }
    held.add(file);
    return () => {
      if (held.delete(file) && contentOf(file) === own) rmSync(file, { force: true });
    };
  } catch (error) {
    throw new Error(`DATA_DIR (${dataDir}) cannot be used: ${systemReason(error)}`);
  }
};

/**
 * The pid in the lock of `dataDir`, or whatever else its file contains; `null` when no process holds it. Changes nothing.
 * @throws Error of the system
 */
export const lockHolder = (dataDir: string): string | null => {
  const owner = contentOf(join(dataDir, FILE_NAME));
  return owner === null || isLeftover(owner) ? null : owner;
};

const inUse = (file: string, owner: string): Error =>
  new Error(
    `process ${owner} is using it, and an embedded database supports one process only. ` +
      `If that process is not Tandem, remove ${file}`,
  );

const isError = (error: unknown, code: string): boolean =>
  error instanceof Error && Reflect.get(error, 'code') === code;

/** Creates the file, and syncs it, so that a power failure leaves no empty file. @returns `false` if it exists already. */
const created = (file: string, content: string): boolean => {
  let descriptor: number;
  try {
    descriptor = openSync(file, 'wx', 0o600);
  } catch (error) {
    if (isError(error, 'EEXIST')) return false;
    throw error;
  }
  try {
    writeSync(descriptor, content);
    fsyncSync(descriptor);
  } catch (error) {
    rmSync(file, { force: true });
    throw error;
  } finally {
    closeSync(descriptor);
  }
  return true;
};

const contentOf = (file: string): string | null => {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (isError(error, 'ENOENT')) return null;
    throw error;
  }
};

/** Whether the owner of a lock has ended. In a container, a stale lock may even have the pid of this process. */
const isLeftover = (owner: string): boolean => {
  if (!/^[1-9]\d*$/.test(owner)) return false;
  if (Number(owner) === process.pid) return true;
  try {
    process.kill(Number(owner), 0);
    return false;
  } catch (error) {
    return isError(error, 'ESRCH');
  }
};

/** Removes a stale lock. Moves it away first and checks it again, since another process may have replaced it meanwhile. */
const discard = (file: string, owner: string): void => {
  const aside = `${file}.${process.pid}`;
  try {
    renameSync(file, aside);
  } catch (error) {
    if (isError(error, 'ENOENT')) return;
    throw error;
  }
  if (contentOf(aside) === owner) rmSync(aside, { force: true });
  else renameSync(aside, file);
};

/** The directory in DATA_DIR to which a backup is restored, before it gets its place. */
export const RESTORING = 'restoring';

/** After an interrupted restore, the service would start with a new, empty database. @throws Error */
export const assertNotRestoring = (dataDir: string): void => {
  const path = join(dataDir, RESTORING);
  if (existsSync(path))
    throw new Error(`A backup was not restored to the end. Restore it again, or remove ${path} to start without it.`);
};
