import { expect, it } from 'vitest';
import { simulate } from './simulate.ts';

/** Without those that leave the outcome of a commit unknown for longer than a request waits. */
const WITHOUT = 'frozen,cut,kill';

it('every rule holds in the worlds of new seeds', () => {
  const today = new Date().toISOString().slice(0, 10);
  const { status, output } = simulate('--from', today, '--minutes', '2', '--without', WITHOUT);
  expect(status, output).toBe(0);
});
