import { expect } from 'vitest';
import type { Clock } from '../../src/application/ports/clock.ts';
import { vitestSuite } from './suite.ts';

export const describeClock = (name: string, make: () => Clock, suite = vitestSuite) => {
  const { it } = suite;
  suite.describe(`${name} as a Clock`, () => {
    it('returns epoch milliseconds as an integer', () => {
      const now = make().now();
      expect(Number.isSafeInteger(now)).toBe(true);
      expect(now).toBeGreaterThan(Date.UTC(2020));
      expect(now).toBeLessThan(Date.UTC(2100));
    });
  });
};
