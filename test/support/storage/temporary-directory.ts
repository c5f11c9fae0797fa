import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { atEnd } from '../closing.ts';

type TemporaryDirectory = {
  /** The path of the directory, which is created when this is first read. */
  readonly path: string;
  /** Returns an unused path in the directory. */
  readonly newPath: () => string;
  readonly remove: () => void;
};

/** A directory that is removed at the end of the test or file. */
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
