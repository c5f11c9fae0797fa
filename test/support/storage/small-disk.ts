import { spawnSync } from 'node:child_process';
import { appendFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryDirectory } from './temporary-directory.ts';

/** Starts a command in a new mount namespace, which needs no root rights if the kernel allows users to have namespaces. */
const NAMESPACE = ['unshare', '--map-root-user', '--mount', 'sh', '-c'] as const;

/** Whether `smallDisk` works here. In CI it always does. */
export const canMakeDisks = (): boolean => {
  const [program, ...args] = NAMESPACE;
  return Boolean(process.env.CI) || spawnSync(program, [...args, 'mount -t tmpfs tmpfs /mnt']).status === 0;
};

/**
 * A small disk in memory for one process, which a test can fill.
 * @param size the size as `mount` takes it, such as `4m`
 */
export const smallDisk = (size: string) => {
  const { path, remove } = temporaryDirectory();
  const script = `mount -t tmpfs -o size=${size} tmpfs ${path} && exec "$@"`;
  /** The path at which other processes see the disk of a process. */
  const seenFrom = (pid: number | undefined): string => `/proc/${pid}/root${path}`;
  const filler = (pid: number | undefined) => join(seenFrom(pid), 'filler');
  return {
    /** The path at which the process itself sees its disk. */
    path,
    /** The words to put before the command of the process. */
    wrap: [...NAMESPACE, script, 'sh'],
    seenFrom,
    fill: (pid: number | undefined): void => {
      // Writes ever smaller pieces, down to one page, until nothing fits.
      for (let bytes = 2 ** 16; bytes >= 2 ** 12; bytes /= 2) {
        try {
          for (;;) appendFileSync(filler(pid), Buffer.alloc(bytes));
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
        }
      }
    },
    makeRoom: (pid: number | undefined): void => rmSync(filler(pid)),
    remove,
  };
};
