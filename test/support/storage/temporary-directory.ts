import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { atEnd } from '../closing.ts';

type TemporaryDirectory = {
  /** It is created at its first use. */
  readonly path: string;
  /** A path in it that nothing has yet. */
  readonly newPath: () => string;
  readonly remove: () => void;
};

/** It is removed at the end of the test or file. */
export const temporaryDirectory = (): TemporaryDirectory => {
  let made: string | undefined;
  let count = 0;
  const directory = {
    get path() {
      made ??= mkdtempSync(join(tmpdir(), 'tandem-'));
      return made;
    },
    newPath: () => {
      count += 1;
      return join(directory.path, `${count}`);
    },
    remove: () => {
      if (made !== undefined) rmSync(made, { recursive: true, force: true });
    },
  };
  atEnd(directory.remove);
  return directory;
};
