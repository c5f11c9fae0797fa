import { prepared, vitestSuite } from './suite.ts';
import { adding } from './user-repository/adding.ts';
import { changing } from './user-repository/changing.ts';
import { finding } from './user-repository/finding.ts';
import { givenUsers, type UserStore } from './user-repository/store.ts';
import { updating } from './user-repository/updating.ts';

const PARTS = { adding, finding, changing, updating };

/**
 * Registers the tests of every promise of the port for one adapter.
 * @param make makes an empty store and the adapter over it, for each test anew.
 */
export const describeUserRepository = (name: string, make: () => Promise<UserStore>, suite = vitestSuite): void => {
  const tests = prepared(suite, async (run) => {
    const given = await givenUsers(make, run);
    return { given, close: async () => given.store.close?.() };
  });
  suite.describe(`${name} as a UserRepository`, () => {
    for (const [behavior, part] of Object.entries(PARTS)) tests.describe(behavior, () => part(tests));
  });
};
