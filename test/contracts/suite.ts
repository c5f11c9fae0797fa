import { describe, it } from 'vitest';

/** What a test may do besides passing and failing. */
export type Run = {
  /** Ends the test, which is then reported as skipped. */
  skip(reason: string): never;
};

/** Where a contract registers its tests. */
export type Suite = {
  describe(title: string, body: () => void): void;
  it(title: string, test: (run: Run) => unknown): void;
};

/** Registers tests with vitest: the default of every contract. */
export const vitestSuite: Suite = {
  describe: (title, body) => {
    describe(title, body);
  },
  it: (title, test) => {
    it(title, async (context) => {
      await test({ skip: (reason) => context.skip(reason) });
    });
  },
};

/** The part of a suite whose tests all begin with the same preparation. */
export type Tests<Given> = {
  describe(title: string, body: () => void): void;
  it(title: string, test: (given: Given) => unknown): void;
};

/** @param prepare makes what a test is given, which is closed after it. */
export const prepared = <Given extends { readonly close: () => Promise<void> | undefined }>(
  suite: Suite,
  prepare: (run: Run) => Promise<Given>,
): Tests<Given> => ({
  describe: suite.describe,
  it: (title, test) => {
    suite.it(title, async (run) => {
      const given = await prepare(run);
      try {
        await test(given);
      } finally {
        await given.close();
      }
    });
  },
});
