import type { HashingTask } from '../../src/adapters/crypto/hashing-thread.ts';
import { type HashingRunner, hashingThreads } from '../../src/adapters/crypto/password-hasher.ts';

/** Wraps the hashing threads, and records their tasks and the number of tasks at the same time. */
export const watchedThreads = () => {
  const tasks: HashingTask[] = [];
  const load = { running: 0, most: 0 };
  const run: HashingRunner['run'] = async (task) => {
    tasks.push(task);
    load.running += 1;
    load.most = Math.max(load.most, load.running);
    return hashingThreads()
      .run(task)
      .finally(() => {
        load.running -= 1;
      });
  };
  return { tasks, load, run };
};
