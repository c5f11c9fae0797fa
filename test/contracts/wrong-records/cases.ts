import type { Suite } from '../suite.ts';

/** How a test of a contract ended. */
export type Outcome = { readonly kind: 'passed' } | { readonly kind: 'failed' | 'skipped'; readonly reason: unknown };

class Skipped extends Error {}

const outcomeOf = async (test: Parameters<Suite['it']>[1]): Promise<Outcome> => {
  try {
    await test({
      skip: (reason) => {
        throw new Skipped(reason);
      },
    });
    return { kind: 'passed' };
  } catch (reason) {
    return { kind: reason instanceof Skipped ? 'skipped' : 'failed', reason };
  }
};

/** The tests of a contract by their titles, to be run here and not by vitest. */
export const casesOf = (register: (suite: Suite) => void): ReadonlyMap<string, () => Promise<Outcome>> => {
  const cases = new Map<string, () => Promise<Outcome>>();
  register({
    describe: (_title, body) => body(),
    it: (title, test) => {
      cases.set(title, () => outcomeOf(test));
    },
  });
  return cases;
};
