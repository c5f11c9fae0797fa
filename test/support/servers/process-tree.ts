import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

const HAS_PROC = existsSync('/proc/self/stat');

/** Makes a process and its children stand still. @returns them all. */
export const stopTree = async (pid: number): Promise<number[]> => {
  process.kill(pid, 'SIGSTOP');
  // Until it stands still it may have another child.
  await until(() => !/[DRS]/.test(stateOf(pid)));
  const children = childrenOf(pid);
  signalAll(children, 'SIGSTOP');
  return [pid, ...children];
};

/** Signals every one of them that is still there. */
export const signalAll = (pids: readonly number[], signal: NodeJS.Signals): void => {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch {
      // It has ended.
    }
  }
};

/** Waits until all of them have ended; not for ever, since a parent may be slow to notice. */
export const allGone = (pids: readonly number[]): Promise<void> => until(() => !pids.some(isRunning));

const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return !/[XZ]/.test(stateOf(pid));
  } catch {
    return false;
  }
};

/** Linux's letter for what a process does; nothing where it does not tell. */
const stateOf = (pid: number): string =>
  HAS_PROC ? (/\) (\S)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1] ?? '') : '';

const childrenOf = (pid: number): number[] => {
  try {
    const list = HAS_PROC
      ? readFileSync(`/proc/${pid}/task/${pid}/children`)
      : execFileSync('pgrep', ['-P', String(pid)]);
    return String(list).split(/\s+/).filter(Boolean).map(Number);
  } catch {
    return [];
  }
};

const until = async (condition: () => boolean): Promise<void> => {
  const deadline = performance.now() + 5_000;
  while (!condition() && performance.now() < deadline) await pause(2);
};
