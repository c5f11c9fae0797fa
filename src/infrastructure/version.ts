import { existsSync, readFileSync } from 'node:fs';
import manifest from '../../package.json' with { type: 'json' };

/**
 * The commit that is checked out in a directory, without running Git.
 * @param root the directory, ending with a slash
 * @returns `null` if it is no clone of its own: an image, a package, a linked worktree.
 */
export const checkedOutRevision = (root: URL): string | null => {
  try {
    const read = (name: string): string => readFileSync(new URL(`.git/${name}`, root), 'utf8').trim();
    const head = read('HEAD');
    const branch = /^ref: (.+)$/.exec(head)?.[1];
    if (branch === undefined) return head;
    if (existsSync(new URL(`.git/${branch}`, root))) return read(branch);
    const packed = read('packed-refs').split('\n');
    return packed.find((line) => line.endsWith(` ${branch}`))?.split(' ')[0] ?? null;
  } catch {
    return null;
  }
};

const { version, revision }: { readonly version: string; readonly revision?: string } = manifest;

/** The application's version, from package.json (SPEC "Versioning"). */
export const VERSION = version;

/** The commit that it was built from. A package and an image have it in package.json, a checkout in `.git`. `null`: unknown. */
export const REVISION = revision || checkedOutRevision(new URL('../../', import.meta.url));
