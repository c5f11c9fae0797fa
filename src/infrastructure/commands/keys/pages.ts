import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { systemReason } from '../../../adapters/log/redact-error.ts';

/** A text that is printed or written to a file. */
export type Page = { readonly name: string; readonly text: string };

/**
 * A line of an environment file that Node, Docker, Compose, Kubernetes, systemd and shells read alike. A PEM needs the quotes for systemd and
 * shells; the service leaves them out where Docker and Kubernetes keep them.
 */
export const envLine = (name: string, value: string): string => {
  const line = value.trimEnd().replaceAll('\n', String.raw`\n`);
  return /^[\w:,-]*$/.test(line) ? `${name}=${line}` : `${name}="${line}"`;
};

/**
 * Writes all pages to a new directory that only its owner can read, or none of them.
 * @returns their paths, or without a directory the pages themselves.
 * @throws Error when the path exists and is not an empty directory.
 */
export const writePages = async (directory: string | undefined, pages: readonly Page[]): Promise<string> => {
  if (directory === undefined) return pages.map(({ name, text }) => `# ${name}\n${text}`).join('\n');
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
