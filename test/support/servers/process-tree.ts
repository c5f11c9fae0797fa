import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

/** A process and its children. It must be stopped or about to end, lest it have others by then. */
export const processTree = (pid: number): number[] => [pid, ...childrenOf(pid)];

const childrenOf = (pid: number): number[] => {
  try {
    return numbersIn(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8'));
  } catch {
    return childrenByPgrep(pid);
  }
};

/** Where there is no /proc. */
const childrenByPgrep = (pid: number): number[] => {
  try {
    return numbersIn(execFileSync('pgrep', ['-P', String(pid)], { encoding: 'utf8' }));
  } catch {
    return [];
  }
};

const numbersIn = (text: string): number[] => text.split(/\s+/).filter(Boolean).map(Number);

/** Signals every one of them that is still there. */
export const signalAll = (pids: readonly number[], signal: NodeJS.Signals): void => {
  for (const pid of pids) if (isRunning(pid)) process.kill(pid, signal);
};

/** Whether a process runs: one that has ended and waits for its parent to notice does not. */
export const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return !existsSync('/proc/self/stat') || !/\) [XZ] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
};
