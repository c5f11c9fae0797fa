import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A directory of the test's own, and how to take it away. */
export const temporaryDirectory = (): { readonly path: string; readonly remove: () => void } => {
  const path = mkdtempSync(join(tmpdir(), 'tandem-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
};
