import { expect, it } from 'vitest';
import { simulate } from './simulate.ts';

it('every rule holds in the worlds of the fixed seeds', async () => {
  const { status, output } = await simulate('--seeds', '20-40');
  expect(status, output).toBe(0);
});

it('a world is the same in every process, whichever came before, and on a busy machine', async () => {
  const runs = await Promise.all([simulate('--seeds', '20-21'), simulate('--seed', '21'), simulate('--seed', '21')]);
  const hashes = runs.map(({ output }) => /^21 [\da-f]{8} /m.exec(output)?.[0]);
  expect(hashes[0]).toBeDefined();
  expect(new Set(hashes).size).toBe(1);
});
