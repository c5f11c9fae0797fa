import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { Piscina } from 'piscina';
import type { HashingTask } from './hashing-thread.ts';

type HashingResult = string | boolean;

/** Runs hashing tasks, up to `width` of them at once. */
export type HashingRunner = {
  readonly width: number;
  readonly run: (task: HashingTask) => Promise<HashingResult>;
};

/** One for each core, eight at most: each uses some megabytes. */
const THREADS = Math.min(availableParallelism(), 8);
/** A second task waits in each thread, so that the thread is not idle until the main thread has read its result. */
const TASKS_PER_THREAD = 2;
/** Where the system gives priorities to threads (Linux), these yield to the thread that serves requests. See nice(2). */
const NICENESS = 10;

let threads: Promise<Piscina<HashingTask, HashingResult>> | undefined;

const start = async () => {
  const { Piscina } = await import('piscina');
  return new Piscina<HashingTask, HashingResult>({
    filename: fileURLToPath(new URL('./hashing-thread.ts', import.meta.url)),
    minThreads: THREADS,
    maxThreads: THREADS,
    concurrentTasksPerWorker: TASKS_PER_THREAD,
    niceIncrement: NICENESS,
    resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 4 },
  });
};

/** Threads of the process. They are started with the first task, and don't keep the process alive. */
export const hashingThreads: HashingRunner = {
  width: THREADS * TASKS_PER_THREAD,
  run: async (task) => {
    threads ??= start();
    return (await threads).run(task);
  },
};
