import { createVitest } from 'vitest/node';
import { ROOT } from './repository.ts';

/** A test as it is written in the source. */
export type NamedTest = {
  readonly file: string;
  /** Of its title, counted from 1. */
  readonly line: number;
  /** `file › title › title`; titles are not filled in, as in `of %s`. */
  readonly reference: string;
};

/** Every test that vitest finds, in all projects and including those that this machine would skip. Runs none. */
export const existingTests = async (): Promise<NamedTest[]> => {
  const vitest = await createVitest('test', { root: ROOT, watch: false });
  try {
    const modules = await vitest.parseSpecifications(await vitest.globTestSpecifications());
    const tests = modules.flatMap((module) =>
      [...module.children.allTests()].map(({ fullName, location }) => ({
        file: module.relativeModuleId,
        line: location?.line ?? 0,
        reference: referenceOf(module.relativeModuleId, fullName),
      })),
    );
    return tests.sort((a, b) => (a.file < b.file ? -1 : a.file > b.file ? 1 : a.line - b.line));
  } finally {
    await vitest.close();
  }
};

/** vitest joins titles by ` > ` and leaves quotes escaped. */
const referenceOf = (file: string, fullName: string): string =>
  [file, ...fullName.replaceAll('\\', '').split(' > ')].join(' › ');
