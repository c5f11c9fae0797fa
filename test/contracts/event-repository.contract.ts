import { counting } from './event-repository/counting.ts';
import { failing } from './event-repository/failing.ts';
import { listing } from './event-repository/listing.ts';
import { operating } from './event-repository/operating.ts';
import { purging } from './event-repository/purging.ts';
import type { EventStore } from './event-repository/store.ts';
import { givenRecords } from './records/store.ts';
import { prepared, vitestSuite } from './suite.ts';

const PARTS = { listing, counting, purging, operating, failing };

/**
 * Registers the tests of every promise of the port for one adapter.
 * @param make makes an empty store and the adapter over it, for each test anew.
 */
export const describeEventRepository = (name: string, make: () => Promise<EventStore>, suite = vitestSuite): void => {
  const tests = prepared(suite, async (run) => {
    const given = await givenRecords(make, run);
    return { given, close: async () => given.store.close?.() };
  });
  suite.describe(`${name} as an EventRepository`, () => {
    for (const [behavior, part] of Object.entries(PARTS)) tests.describe(behavior, () => part(tests));
  });
};
