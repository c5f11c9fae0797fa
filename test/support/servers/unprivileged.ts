import { execFileSync } from 'node:child_process';
import { chownSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Owner } from './server.ts';

/** The user that runs servers. It is the current user, or `nobody` instead of root, because PostgreSQL refuses root. */
export const unprivileged = (): Owner =>
  process.getuid?.() === 0 ? { uid: idOfNobody('-u'), gid: idOfNobody('-g') } : {};

const idOfNobody = (flag: '-u' | '-g'): number => Number(execFileSync('id', [flag, 'nobody'], { encoding: 'utf8' }));

/** Makes a private directory outside the checkout, because the owner may be unable to read the checkout. */
export const serverDirectory = (name: string, owner: Owner): string => {
  const path = mkdtempSync(join(tmpdir(), `tandem-${name}-`));
  if (owner.uid !== undefined && owner.gid !== undefined) chownSync(path, owner.uid, owner.gid);
  return path;
};
