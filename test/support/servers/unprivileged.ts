import { execFileSync } from 'node:child_process';
import { chownSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Owner } from './server.ts';

/** Whom servers run as: ourselves, but nobody instead of root, as whom PostgreSQL refuses to run. */
export const unprivileged = (): Owner =>
  process.getuid?.() === 0 ? { uid: idOfNobody('-u'), gid: idOfNobody('-g') } : {};

const idOfNobody = (flag: '-u' | '-g'): number => Number(execFileSync('id', [flag, 'nobody'], { encoding: 'utf8' }));

/** A fresh directory that its owner alone may enter, where its owner may reach it: a checkout may lie under a private one. */
export const serverDirectory = (name: string, owner: Owner): string => {
  const path = mkdtempSync(join(tmpdir(), `tandem-${name}-`));
  if (owner.uid !== undefined && owner.gid !== undefined) chownSync(path, owner.uid, owner.gid);
  return path;
};
