import { readFileSync } from 'node:fs';

/** What Linux's /proc says of processes. Elsewhere the figures are not to be had: NaN. */
const read = (path: string): string => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
};

/** MiB of a process that are in memory. */
export const residentMemory = (pid: number): number => {
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(read(`/proc/${pid}/status`)) ?? [];
  return kilobytes === undefined ? Number.NaN : Number(kilobytes) / 1_024;
};

/** A process and its children. */
export const withChildren = (pid: number): number[] => {
  const children = read(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean);
  return [pid, ...children.map(Number)];
};

/** Linux counts the time of processes in hundredths of a second, whatever its own clock is. */
const TICK = 10;

/** Milliseconds that these processes computed, with those of their children that have ended. */
export const cpuTime = (pids: readonly number[]): number =>
  pids.map(cpuTimeOf).reduce((sum, milliseconds) => sum + milliseconds, 0);

const cpuTimeOf = (pid: number): number => {
  // After the name, which is in parentheses and may contain anything, `utime` is the twelfth field: proc_pid_stat(5).
  const fields = read(`/proc/${pid}/stat`).split(') ').at(-1)?.split(' ') ?? [];
  const ticks = fields.slice(11, 15).map(Number);
  return ticks.length === 4 ? ticks.reduce((sum, count) => sum + count, 0) * TICK : Number.NaN;
};
