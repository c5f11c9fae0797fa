import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runAtEnd } from '../closing.ts';

type TemporaryDirectory = {
  /** The path of the directory, which is created when this is first read. */
  readonly path: string;
  /** Returns an unused path in the directory. */
  readonly newPath: () => string;
  readonly remove: () => void;
};

/** A directory that is removed at the end of the test or file. */
export const temporaryDirectory = (): TemporaryDirectory => {
  let created: string | undefined;
  let count = 0;
  const directory = {
    get path() {
      created ??= mkdtempSync(join(tmpdir(), 'tandem-'));
      return created;
    },
    newPath: () => {
      count += 1;
      return join(directory.path, `${count}`);
    },
    remove: () => {
      if (created !== undefined) rmSync(created, { recursive: true, force: true });
    },
  };
  runAtEnd(directory.remove);
  return directory;
};
