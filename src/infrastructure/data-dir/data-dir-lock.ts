import {
  closeSync,
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
import { systemReason } from '../../adapters/redaction/system-reason.ts';

const FILE_NAME = 'tandem.pid';

/** Lock files that are this process's own, told by them from a leftover that happens to hold its pid. */
const held = new Set<string>();

/**
 * Takes `dataDir` for this process alone, and makes it where there is none: two processes on one embedded database would
 * destroy it. Like PostgreSQL's `postmaster.pid`, a file holds the owner's pid, and a leftover whose process is gone is
 * taken over. Containers that share a volume don't see each other's processes, so they are not kept apart.
 * @returns what gives it back.
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

const inUse = (file: string, owner: string): Error =>
  new Error(
    `process ${owner} is using it, and an embedded database serves one process. ` +
      `If that process is not this service, remove ${file}`,
  );

const isError = (error: unknown, code: string): boolean =>
  error instanceof Error && Reflect.get(error, 'code') === code;

/** Whether this call made the file. On the disk before it counts, so that a power cut leaves no empty one. */
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

/** A container's processes get the same pids at every start: another start's pid may be this process's own. */
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

/** Moves the leftover away before it is judged again: another process may have taken it over meanwhile, and keeps its lock. */
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
