import { spawnSync } from 'node:child_process';
import { ROOT } from '../support/checkout/repository.ts';

/** Runs the simulation in a process of its own, which has another time and another chance. Each world takes a tenth of a day. */
export const simulate = (...given: string[]) => {
  const command = ['test/simulation/main.ts', '--days', '0.1', ...given];
  const { status, stdout, stderr } = spawnSync(process.execPath, command, { cwd: ROOT, encoding: 'utf8' });
  return { status, output: stdout + stderr, hashes: stdout.match(/^\d+ [\da-f]{8} /gm) };
};
