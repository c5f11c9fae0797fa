import { describe, expect, it } from 'vitest';
import type { Suite } from '../../contracts/suite.ts';
import { casesOf } from './cases.ts';

/** An adapter with one fault. */
export type Mutant<Make> = {
  readonly make: Make;
  /** The title of the test that has to catch it. */
  readonly caughtBy: string;
};

/**
 * Expects that a contract catches each of its mutants, in the test that is named. The failures of the mutants fail nothing here.
 * @param contract registers the contract for what a mutant's `make` makes.
 * @param mutants by their faults.
 */
export const describeMutants = <Make>(
  contract: (make: Make, suite: Suite) => void,
  mutants: Readonly<Record<string, Mutant<Make>>>,
): void => {
  describe('the contract catches an adapter that', () => {
    it.each(Object.entries(mutants))('%s', async (_fault, { make, caughtBy }) => {
      const run = casesOf((suite) => contract(make, suite)).get(caughtBy);
      if (run === undefined) throw new Error(`the contract has no test "${caughtBy}"`);
      const outcome = await run();
      // Not by an error of the mutant's own code.
      expect(outcome).toMatchObject({ kind: 'failed', reason: { name: 'AssertionError' } });
    });
  });
};
