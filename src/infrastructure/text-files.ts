import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { systemReason } from '../adapters/log/redact-error.ts';
import { decodeText } from './decode-text.ts';

/** Files that operators write: templates and texts of mails and pages. */

/** The names in a directory, sorted. Hidden ones are left out, as those of a mounted ConfigMap. */
export const visibleIn = async (directory: string): Promise<string[]> =>
  (await readdir(directory)).filter((name) => !name.startsWith('.')).sort();

/** @throws Error that names the file */
export const readTextFile = async (path: string): Promise<string> => {
  const bytes = await readFile(path);
  try {
    return decodeText(bytes);
  } catch (error) {
    throw new Error(`${path}: ${systemReason(error)}`);
  }
};

/**
 * Writes files by their paths in a directory.
 * @throws Error when one of them exists
 */
export const writeTextFiles = async (directory: string, files: ReadonlyMap<string, string>): Promise<void> => {
  for (const [path, text] of files) {
    const file = join(directory, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text, { flag: 'wx' });
    // They are no secret, and the service may run as another user.
    await chmod(file, 0o644);
    for (const above of [dirname(file), directory]) await chmod(above, 0o755);
  }
};
