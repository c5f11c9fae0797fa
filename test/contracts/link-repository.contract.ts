import { finding } from './link-repository/finding.ts';
import { removing } from './link-repository/removing.ts';
import type { LinkStore } from './link-repository/store.ts';
import { taking } from './link-repository/taking.ts';
import { givenRecords } from './records/store.ts';
import { prepared, vitestSuite } from './suite.ts';

const PARTS = { finding, taking, removing };

/**
 * Registers the tests of every promise of the port for one adapter.
 * @param make makes an empty store and the adapter over it, for each test anew.
 */
export const describeLinkRepository = (name: string, make: () => Promise<LinkStore>, suite = vitestSuite): void => {
  const tests = prepared(suite, async (run) => {
    const given = await givenRecords(make, run);
    return { given, close: async () => given.store.close?.() };
  });
  suite.describe(`${name} as a LinkRepository`, () => {
    for (const [behavior, part] of Object.entries(PARTS)) tests.describe(behavior, () => part(tests));
  });
};
