import { inject, it, TestRunner } from 'vitest';
import { postgresOfTheTests, redisOfTheTests } from './of-the-tests.ts';

/** Skips the HTTP suite over real parts where one of them is missing: over embedded ones it runs in a project of its own. */
export default class extends TestRunner {
  override importFile(path: string, source: 'collect' | 'setup'): unknown {
    const missing = postgresOfTheTests() === undefined || redisOfTheTests() === undefined;
    if (missing && inject('parts') === 'real' && source === 'collect' && path.includes('/test/http/')) {
      return it.skip('needs a PostgreSQL and a Redis');
    }
    return super.importFile(path, source);
  }
}
