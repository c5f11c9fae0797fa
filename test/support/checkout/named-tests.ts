import { createVitest } from 'vitest/node';
import { ROOT } from './repository.ts';

/** A test in the source. */
export type NamedTest = {
  readonly file: string;
  /** The line of its title, counted from 1. */
  readonly line: number;
  /** `file › title › title`, with placeholders like `%s` unfilled. */
  readonly reference: string;
};

/** Every test of all projects, including those that would be skipped on this machine. Runs none. */
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
