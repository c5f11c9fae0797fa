import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { ROOT, readText } from '../support/checkout/repository.ts';
import { MUTANTS, mutated } from './mutants.ts';

/** Runs the simulation in a process of its own, since it replaces time and chance there. @throws Error with the violations, if there are any */
const simulate = async (seeds: string): Promise<string> => {
  const command = ['test/simulation/main.ts', '--days', '0.1', '--seeds', seeds];
  return (await promisify(execFile)(process.execPath, command, { cwd: ROOT })).stdout;
};

it('every rule holds in the worlds of the fixed seeds', async () => {
  await expect(simulate('20-40')).resolves.toBeTypeOf('string');
});

it('a world is the same in every process, whichever came before, and on a busy machine', async () => {
  const outputs = await Promise.all(['20-21', '21', '21'].map(simulate));
  const worlds = outputs.map((output) => /^21 .* events/m.exec(output)?.[0]);
  expect(worlds).toEqual([expect.any(String), worlds[0], worlds[0]]);
});

it.each(MUTANTS)('the planted fault "$name" changes the file', (mutant) => {
  expect(mutated(mutant)).not.toBe(readText(mutant.file));
});
