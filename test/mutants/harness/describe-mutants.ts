import { describe, expect, it } from 'vitest';
import type { Suite } from '../../contracts/suite.ts';
import { casesOf } from './cases.ts';

/** An adapter with one fault. */
export type Mutant<Make> = {
  readonly make: Make;
  /** The title of the test that has to catch it. */
  readonly caughtBy: string;
};

/** @param make makes what `make` of a mutant is, from its fault. @param groups of faults; none has the name of another. */
export const mutantsOf = <Fault extends Pick<Mutant<never>, 'caughtBy'>, Make>(
  make: (fault: Fault) => Make,
  ...groups: readonly Readonly<Record<string, Fault>>[]
): Readonly<Record<string, Mutant<Make>>> => {
  const mutants = new Map<string, Mutant<Make>>();
  for (const [what, fault] of groups.flatMap((group) => Object.entries(group))) {
    if (mutants.has(what)) throw new Error(`two wrong adapters have the name "${what}"`);
    mutants.set(what, { make: make(fault), caughtBy: fault.caughtBy });
  }
  return Object.fromEntries(mutants);
};

/**
 * Expects that a contract catches each of its mutants, in the test that is named, and that each test of the contract catches one. The
 * failures of the mutants fail nothing here.
 * @param contract registers the contract for what a mutant's `make` makes.
 * @param mutants by their faults.
 */
export const describeMutants = <Make>(
  contract: (make: Make, suite: Suite) => void,
  mutants: Readonly<Record<string, Mutant<Make>>>,
): void => {
  const casesFor = (make: Make) => casesOf((suite) => contract(make, suite));

  describe('the contract catches an adapter that', () => {
    it.each(Object.entries(mutants))('%s', async (_fault, { make, caughtBy }) => {
      const run = casesFor(make).get(caughtBy);
      if (run === undefined) throw new Error(`the contract has no test "${caughtBy}"`);
      const outcome = await run();
      // Not by an error of the mutant's own code.
      expect(outcome).toMatchObject({ kind: 'failed', reason: { name: 'AssertionError' } });
    });
  });

  describe('the contract', () => {
    it('has no test that catches no wrong adapter', () => {
      const all = Object.values(mutants);
      const titles = new Set(all.flatMap(({ make }) => [...casesFor(make).keys()]));
      const catching = new Set(all.map(({ caughtBy }) => caughtBy));
      expect(titles.size).toBeGreaterThan(0);
      expect([...titles].filter((title) => !catching.has(title))).toEqual([]);
    });
  });
};
