import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { systemReason } from '../../adapters/redaction/system-reason.ts';

/** A text that is printed or becomes a file. */
export type Page = { readonly name: string; readonly text: string };

/** A line of an environment file. */
export const envLine = (name: string, pem: string): string =>
  `${name}="${pem.trimEnd().replaceAll('\n', String.raw`\n`)}"`;

/**
 * Writes all pages into a new directory, readable by its owner only, or none.
 * @returns what was written.
 * @throws Error when there is something of that name already, except for an empty directory.
 */
export const writePages = async (directory: string, pages: readonly Page[]): Promise<string> => {
  const target = resolve(directory);
  let draft: string | undefined;
  try {
    await mkdir(dirname(target), { recursive: true, mode: 0o700 });
    draft = await mkdtemp(`${target}.`);
    for (const { name, text } of pages) await writeFile(join(draft, name), text, { mode: 0o600, flag: 'wx' });
    await rename(draft, target);
  } catch (error) {
    if (draft !== undefined) await rm(draft, { recursive: true, force: true });
    throw new Error(`--out: nothing was written: ${systemReason(error)}`);
  }
  return pages.map(({ name }) => `${join(directory, name)}\n`).join('');
};
