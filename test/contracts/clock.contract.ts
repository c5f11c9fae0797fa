import { setTimeout } from 'node:timers/promises';
import { expect } from 'vitest';
import type { Clock } from '../../src/application/ports/clock.ts';
import { vitestSuite } from './suite.ts';

/** Until the clock of the process has advanced. */
const wait = async (): Promise<void> => {
  const start = Date.now();
  while (Date.now() <= start) await setTimeout(1);
};

/** @param pass lets time pass for a clock that does not run by itself. */
export const describeClock = <Made extends Clock>(
  name: string,
  make: () => Made,
  pass: (clock: Made) => unknown = wait,
  suite = vitestSuite,
) => {
  const { it } = suite;
  suite.describe(`${name} as a Clock`, () => {
    it('returns epoch milliseconds as an integer', () => {
      const now = make().now();
      expect(Number.isSafeInteger(now)).toBe(true);
      expect(now).toBeGreaterThan(Date.UTC(2020));
      expect(now).toBeLessThan(Date.UTC(2100));
    });

    it('advances with the time', async () => {
      const clock = make();
      const first = clock.now();
      await pass(clock);
      expect(clock.now()).toBeGreaterThan(first);
    });
  });
};
