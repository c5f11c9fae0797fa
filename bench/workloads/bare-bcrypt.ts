import bcrypt from 'bcrypt';
import { PASSWORD } from '../systems/system.ts';

/** A row of its own beside the systems: what hashing alone allows for. */
export const BCRYPT = { name: 'bcrypt', title: 'bare bcrypt', workloads: ['register', 'log-in'] as const };

const COST = 10;

/** How often a second `work` is done by so many at once, until the last of them is done. */
const throughput = async (work: () => Promise<unknown>, atOnce: number, duration: number): Promise<number> => {
  const startedAt = performance.now();
  let done = 0;
  const worker = async () => {
    while (performance.now() < startedAt + duration) {
      await work();
      done += 1;
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return (done * 1_000) / (performance.now() - startedAt);
};

/** `bcrypt.hash` in this process, beside the registrations. @returns how many a second */
export const hashAtOnce = (count: number, duration: number): Promise<number> =>
  throughput(() => bcrypt.hash(PASSWORD, COST), count, duration);

/** `bcrypt.compare` in this process, beside the log-ins. @returns how many a second */
export const compareAtOnce = async (count: number, duration: number): Promise<number> => {
  const hash = await bcrypt.hash(PASSWORD, COST);
  return throughput(() => bcrypt.compare(PASSWORD, hash), count, duration);
};
