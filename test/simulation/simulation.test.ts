import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { ROOT } from '../support/checkout/repository.ts';

/** In a process of its own: it has another time and another chance. */
const simulate = (...given: string[]) => {
  const command = ['test/simulation/main.ts', ...given];
  const { status, stdout, stderr } = spawnSync(process.execPath, command, { cwd: ROOT, encoding: 'utf8' });
  return { status, output: stdout + stderr, hashes: stdout.match(/^\d+ [\da-f]{8} /gm) };
};
const DAYS = ['--days', '0.1'];

it('holds every rule in the worlds of the fixed seeds', () => {
  const { status, output } = simulate('--seeds', '1-8', ...DAYS);
  expect(status, output).toBe(0);
});

it('runs a world the same way in every process, whichever came before', () => {
  const [, second] = simulate('--seeds', '3-4', ...DAYS).hashes ?? [];
  expect(second).toMatch(/^4 /);
  expect(simulate('--seed', '4', ...DAYS).hashes).toStrictEqual([second]);
});
