import { execFileSync } from 'node:child_process';
import { availableParallelism } from 'node:os';

/** A list of cores as taskset takes it: "0", "1-3". */
export type Cores = string;

const hasTaskset = (): boolean => {
  try {
    execFileSync('taskset', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
};

const COUNT = availableParallelism();
/** Whether processes can be kept to a core of their own here: taskset is there, and there are two cores. */
export const CAN_PIN = COUNT > 1 && hasTaskset();

export const ALL: Cores = `0-${COUNT - 1}`;
export const FIRST: Cores = '0';
const SECOND: Cores = '1';
export const BOTH: Cores = '0-1';
/** For whatever is not measured while the server has the first core. */
export const OTHERS: Cores = COUNT > 2 ? `1-${COUNT - 1}` : SECOND;
/** For whatever is not measured while two servers have a core each; of two cores none is left, so all are shared. */
export const BESIDE_TWO: Cores = COUNT > 2 ? `2-${COUNT - 1}` : ALL;

/** The command that starts a program on these cores alone. */
export const on = (cores: Cores, command: readonly string[]): readonly string[] =>
  CAN_PIN ? ['taskset', '-c', cores, ...command] : command;

/** Moves processes that run, with all their threads. What they start later is where they are. */
export const move = (pids: readonly number[], cores: Cores): void => {
  if (!CAN_PIN) return;
  for (const pid of pids) execFileSync('taskset', ['-apc', cores, String(pid)], { stdio: 'ignore' });
};
