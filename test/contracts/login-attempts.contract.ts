import { settling } from './login-attempts/settling.ts';
import { type AttemptsStore, givenAttempts } from './login-attempts/store.ts';
import { waiting } from './login-attempts/waiting.ts';
import { prepared, vitestSuite } from './suite.ts';

const PARTS = { waiting, settling };

/**
 * Registers the tests of every promise of the port for one adapter.
 * @param make makes an empty count and the adapter over it, for each test anew.
 */
export const describeLoginAttempts = (name: string, make: () => Promise<AttemptsStore>, suite = vitestSuite): void => {
  const tests = prepared(suite, (run) => givenAttempts(make, run));
  suite.describe(`${name} as LoginAttempts`, () => {
    for (const [behavior, part] of Object.entries(PARTS)) tests.describe(behavior, () => part(tests));
  });
};
