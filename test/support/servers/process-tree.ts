import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

const HAS_PROC = existsSync('/proc/self/stat');

/** Suspends a process and its children by SIGSTOP. @returns the ids of all of them */
export const stopTree = async (pid: number): Promise<number[]> => {
  process.kill(pid, 'SIGSTOP');
  // Until the process is suspended it may start another child.
  await until(() => !/[DRS]/.test(stateOf(pid)));
  const children = childrenOf(pid);
  signalAll(children, 'SIGSTOP');
  return [pid, ...children];
};

/** Sends a signal to those of the processes that still exist. */
export const signalAll = (pids: readonly number[], signal: NodeJS.Signals): void => {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch {
      // The process has ended.
    }
  }
};

/** Waits until all of the processes have ended, or a time limit has passed, since a parent may be slow to reap them. */
export const allGone = (pids: readonly number[]): Promise<void> => until(() => !pids.some(isRunning));

const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return !/[XZ]/.test(stateOf(pid));
  } catch {
    return false;
  }
};

/** The state of a process as a letter (proc(5)), or an empty text if the system has no /proc. */
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
  const deadline = performance.now() + 30_000;
  while (!condition() && performance.now() < deadline) await pause(2);
};
