import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A directory of the test's own, which is made when it is first asked for, and how to take it away. */
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
