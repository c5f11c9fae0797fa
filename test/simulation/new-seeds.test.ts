import { expect, it } from 'vitest';
import { simulate } from './simulate.ts';

it('every rule holds in the worlds of new seeds', async () => {
  const today = new Date().toISOString().slice(0, 10);
  const { status, output } = await simulate('--from', today, '--minutes', '1');
  expect(status, output).toBe(0);
});
