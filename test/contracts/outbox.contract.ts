import { admitting } from './outbox/admitting.ts';
import { claiming } from './outbox/claiming.ts';
import { removing } from './outbox/removing.ts';
import { requesting } from './outbox/requesting.ts';
import type { OutboxStore } from './outbox/store.ts';
import { givenRecords } from './records/store.ts';
import { prepared, vitestSuite } from './suite.ts';

const PARTS = { claiming, requesting, admitting, removing };

/**
 * Registers the tests of every promise of the port for one adapter.
 * @param make makes an empty store and the adapter over it, for each test anew.
 */
export const describeOutbox = (name: string, make: () => Promise<OutboxStore>, suite = vitestSuite): void => {
  const tests = prepared(suite, async (run) => {
    const given = await givenRecords(make, run);
    return { given, close: async () => given.store.close?.() };
  });
  suite.describe(`${name} as an Outbox`, () => {
    for (const [behavior, part] of Object.entries(PARTS)) tests.describe(behavior, () => part(tests));
  });
};
