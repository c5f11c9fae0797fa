import { inject, type RunnerTask, type RunnerTestFile, TestRunner } from 'vitest';
import { postgresOfTheTests, redisOfTheTests } from './of-the-tests.ts';

const skip = (task: RunnerTask): void => {
  task.mode = 'skip';
  if (task.type === 'suite') task.tasks.forEach(skip);
};

/** Skips the HTTP suite over real parts where one of them is missing: over embedded ones it runs in a project of its own. */
export default class extends TestRunner {
  onCollected(files: RunnerTestFile[]): void {
    const missing = postgresOfTheTests() === undefined || redisOfTheTests() === undefined;
    if (inject('parts') === 'real' && missing) {
      for (const file of files) if (file.name.startsWith('test/http/')) skip(file);
    }
  }
}
