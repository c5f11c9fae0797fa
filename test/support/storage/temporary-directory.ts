import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A temporary directory that is created at its first use, and `remove`, which deletes it. */
export const temporaryDirectory = (): { readonly path: string; readonly remove: () => void } => {
  let made: string | undefined;
  return {
    get path() {
      made ??= mkdtempSync(join(tmpdir(), 'tandem-'));
      return made;
    },
    remove: () => {
      if (made !== undefined) rmSync(made, { recursive: true, force: true });
    },
  };
};
