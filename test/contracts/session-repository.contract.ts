import { adding } from './session-repository/adding.ts';
import { binding } from './session-repository/binding.ts';
import { ending } from './session-repository/ending.ts';
import { failing } from './session-repository/failing.ts';
import { limiting } from './session-repository/limiting.ts';
import { listing } from './session-repository/listing.ts';
import { purging } from './session-repository/purging.ts';
import { reverting } from './session-repository/reverting.ts';
import { rotating } from './session-repository/rotating.ts';
import { givenSessions, type SessionStore } from './session-repository/store.ts';
import { prepared, vitestSuite } from './suite.ts';

const PARTS = { adding, rotating, binding, reverting, ending, listing, limiting, purging, failing };

/**
 * Registers the tests of every promise of the port for one adapter.
 * @param make makes an empty store and the adapter over it, for each test anew.
 */
export const describeSessionRepository = (
  name: string,
  make: () => Promise<SessionStore>,
  suite = vitestSuite,
): void => {
  const tests = prepared(suite, async (run) => {
    const given = await givenSessions(make, run);
    return { given, close: async () => given.store.close?.() };
  });
  suite.describe(`${name} as a SessionRepository`, () => {
    for (const [behavior, part] of Object.entries(PARTS)) tests.describe(behavior, () => part(tests));
  });
};
