import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cpus, totalmem, type } from 'node:os';
import { join } from 'node:path';

const packageOf = (directory: string): { readonly version: string; readonly dependencies?: Record<string, string> } =>
  JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'));

const BENCH = join(import.meta.dirname, '..');

export type Description = Readonly<Record<string, string>>;

const commit = (): string => {
  try {
    return execFileSync('git', ['describe', '--always', '--dirty', '--exclude=*'], {
      cwd: BENCH,
      encoding: 'utf8',
    }).trim();
  } catch {
    return 'unknown';
  }
};

/** What the figures depend on. */
export const describeMachine = (servers: Description, busy: number): Description => ({
  Machine: `${cpus().length} × ${cpus()[0]?.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GiB, ${type()}`,
  'Processor time in use before the run': `${Math.round(100 * busy)} %`,
  'Node.js': process.version,
  ...servers,
  Tandem: `${packageOf(join(BENCH, '..')).version}, commit ${commit()}`,
});

/** The versions of the packages of the bench. */
export const packageVersions = (): Description => packageOf(BENCH).dependencies ?? {};
