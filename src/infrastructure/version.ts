import { existsSync, readFileSync } from 'node:fs';
import manifest from '../../package.json' with { type: 'json' };

/** Finds the commit without Git. @param root a URL with a trailing slash. @returns `null` if there is no directory `.git`, or no commit in it */
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

/** The version of the service, from package.json (SPEC "Versioning"). */
export const VERSION = version;

/** The commit from which the service was built: in a package or an image from package.json, in a checkout from `.git`; `null` if it is unknown. */
export const REVISION = revision || checkedOutRevision(new URL('../../', import.meta.url));
