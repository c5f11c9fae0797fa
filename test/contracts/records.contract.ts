import { changing } from './records/changing.ts';
import { type Database, givenDatabase } from './records/database.ts';
import { inserting } from './records/inserting.ts';
import { listing } from './records/listing.ts';
import { uniting } from './records/uniting.ts';
import { prepared, vitestSuite } from './suite.ts';

const PARTS = { inserting, listing, changing, uniting };

/**
 * Registers the tests of every promise of `Records` for one adapter.
 * @param make makes empty tables and the adapter over them, for each test anew.
 */
export const describeRecords = (name: string, make: () => Promise<Database>, suite = vitestSuite): void => {
  const tests = prepared(suite, (run) => givenDatabase(make, run));
  suite.describe(`${name} as Records`, () => {
    for (const [behavior, part] of Object.entries(PARTS)) tests.describe(behavior, () => part(tests));
  });
};
