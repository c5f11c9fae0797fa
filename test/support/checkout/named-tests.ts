import { createVitest } from 'vitest/node';
import { ROOT } from './repository.ts';

/**
 * Every test as vitest itself finds it, without running any: `file › title › title`, with titles as they are written in the
 * source, whatever the project, and those too that this machine would skip.
 */
export const existingTests = async (): Promise<ReadonlySet<string>> => {
  const vitest = await createVitest('test', { root: ROOT, watch: false });
  try {
    const files = await vitest.parseSpecifications(await vitest.globTestSpecifications());
    return new Set(
      files.flatMap((file) =>
        [...file.children.allTests()].map(({ fullName }) => referenceOf(file.relativeModuleId, fullName)),
      ),
    );
  } finally {
    await vitest.close();
  }
};

/** vitest joins titles by ` > ` and leaves quotes escaped. */
const referenceOf = (file: string, fullName: string): string =>
  [file, ...fullName.replaceAll('\\', '').split(' > ')].join(' › ');
