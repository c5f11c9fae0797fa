import { prepared, vitestSuite } from './suite.ts';
import { keeping } from './unit-of-work/keeping.ts';
import { overlapping } from './unit-of-work/overlapping.ts';
import { refusing } from './unit-of-work/refusing.ts';
import { givenUnits, type UnitOfWorkStore } from './unit-of-work/store.ts';

const PARTS = { keeping, overlapping, refusing };

/**
 * Registers the tests of every promise of the port for one adapter.
 * @param make makes empty stores and the unit of work over them, for each test anew.
 */
export const describeUnitOfWork = (name: string, make: () => Promise<UnitOfWorkStore>, suite = vitestSuite): void => {
  const tests = prepared(suite, async (run) => {
    const given = await givenUnits(make, run);
    return { given, close: given.close };
  });
  suite.describe(`${name} as a UnitOfWork`, () => {
    for (const [behavior, part] of Object.entries(PARTS)) tests.describe(behavior, () => part(tests));
  });
};
