import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './repository.ts';

/** Copies the files of the checkout that git knows or would add, with a link to its packages. */
export const copyCheckout = (directory: string): void => {
  const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { cwd: ROOT, encoding: 'utf8' });
  for (const file of files.trim().split('\n'))
    if (existsSync(join(ROOT, file))) cpSync(join(ROOT, file), join(directory, file));
  symlinkSync(join(ROOT, 'node_modules'), join(directory, 'node_modules'));
};
