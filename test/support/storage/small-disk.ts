import { spawnSync } from 'node:child_process';
import { appendFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryDirectory } from './temporary-directory.ts';

/** In a mount namespace of its own, which needs no rights where the kernel lets users have namespaces. */
const NAMESPACE = ['unshare', '--map-root-user', '--mount', 'sh', '-c'] as const;

/** Whether such a disk can be made. In CI it always can. */
export const canMakeDisks = (): boolean => {
  const [program, ...args] = NAMESPACE;
  return Boolean(process.env.CI) || spawnSync(program, [...args, 'mount -t tmpfs tmpfs /mnt']).status === 0;
};

/**
 * A disk in memory, that can be full, for one process.
 * @param size as `mount` takes it: `4m`
 */
export const smallDisk = (size: string) => {
  const { path, remove } = temporaryDirectory();
  const script = `mount -t tmpfs -o size=${size} tmpfs ${path} && exec "$@"`;
  /** Where other processes find the disk of that process. */
  const seenFrom = (pid: number | undefined): string => `/proc/${pid}/root${path}`;
  const filler = (pid: number | undefined) => join(seenFrom(pid), 'filler');
  return {
    /** Where the process finds it. */
    path,
    /** The command in front of that of the process. */
    wrap: [...NAMESPACE, script, 'sh'],
    seenFrom,
    fill: (pid: number | undefined): void => {
      // In ever smaller pieces, down to the last page.
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
