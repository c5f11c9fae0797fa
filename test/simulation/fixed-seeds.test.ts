import { expect, it } from 'vitest';
import { simulate } from './simulate.ts';

it('every rule holds in the worlds of the fixed seeds', () => {
  const { status, output } = simulate('--seeds', '20-40');
  expect(status, output).toBe(0);
});

it('a world is the same in every process, whichever came before', () => {
  const [, second] = simulate('--seeds', '20-21').hashes ?? [];
  expect(second).toMatch(/^21 /);
  expect(simulate('--seed', '21').hashes).toStrictEqual([second]);
});
