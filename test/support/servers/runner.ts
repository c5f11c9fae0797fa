import { inject, it, TestRunner } from 'vitest';
import { postgresOfTheTests, redisOfTheTests } from './of-the-tests.ts';

/** Skips the HTTP tests on real servers if a server is missing. Another project runs the same tests in memory. */
export default class extends TestRunner {
  override importFile(path: string, source: 'collect' | 'setup'): unknown {
    const missing = postgresOfTheTests() === undefined || redisOfTheTests() === undefined;
    if (missing && inject('parts') !== 'embedded' && source === 'collect' && path.includes('/test/http/')) {
      return it.skip('needs a PostgreSQL and a Redis');
    }
    return super.importFile(path, source);
  }
}
