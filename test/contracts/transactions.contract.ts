import { prepared, vitestSuite } from './suite.ts';
import { keeping } from './transactions/keeping.ts';
import { overlapping } from './transactions/overlapping.ts';
import { refusing } from './transactions/refusing.ts';
import { givenUnits, type TransactionsStore } from './transactions/store.ts';

const PARTS = { keeping, overlapping, refusing };

/**
 * Registers the tests of every promise of the port for one adapter.
 * @param make makes empty stores and the transaction over them, for each test anew.
 */
export const describeTransactions = (
  name: string,
  make: () => Promise<TransactionsStore>,
  suite = vitestSuite,
): void => {
  const tests = prepared(suite, async (run) => {
    const given = await givenUnits(make, run);
    return { given, close: given.close };
  });
  suite.describe(`${name} as a Transactions`, () => {
    for (const [behavior, part] of Object.entries(PARTS)) tests.describe(behavior, () => part(tests));
  });
};
