import { cpus } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';

/** The most of the processor time that something else may use while figures are taken. */
const MAX_BUSY = 0.1;
/** Milliseconds. */
const DURATION = 5_000;

const times = () => {
  const all = cpus().map((core) => core.times);
  const idle = all.reduce((sum, each) => sum + each.idle, 0);
  const total = all.flatMap((each) => Object.values(each)).reduce((sum, each) => sum + each, 0);
  return { idle, total };
};

/** The share of the processor time of the machine that is in use, while this process waits. From 0 to 1. */
export const busyShare = async (): Promise<number> => {
  const before = times();
  await pause(DURATION);
  const after = times();
  return 1 - (after.idle - before.idle) / (after.total - before.total);
};

/** @throws Error when the machine is busy: its figures would mislead. */
export const assertQuiet = (busy: number, when: string): void => {
  if (busy > MAX_BUSY)
    throw new Error(`${Math.round(100 * busy)} % of the processor time was in use ${when}: results are not written`);
};
