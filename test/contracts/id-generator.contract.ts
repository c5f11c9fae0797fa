import { expect } from 'vitest';
import type { Clock } from '../../src/application/ports/clock.ts';
import type { IdGenerator } from '../../src/application/ports/id-generator.ts';
import { fixedClock } from '../support/fixed-clock.ts';
import { type Absent, offered } from './hooks.ts';
import { vitestSuite } from './suite.ts';

const ULID = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;
const START = Date.UTC(2026, 0, 1);

const take = (ids: IdGenerator, count: number) => Array.from({ length: count }, () => ids.next());

/** @param another makes the generator of another instance of the service. */
export const describeIdGenerator = (
  name: string,
  make: (clock: Clock) => IdGenerator,
  another: ((clock: Clock) => IdGenerator) | Absent = make,
  suite = vitestSuite,
) => {
  const { it } = suite;
  suite.describe(`${name} as an IdGenerator`, () => {
    it("makes ULIDs: 26 characters of Crockford's base 32", () => {
      for (const id of take(make(fixedClock(START)), 1_000)) expect(id).toMatch(ULID);
    });

    it('never makes the same id twice', async () => {
      const ids = make(fixedClock(START));
      const made = await Promise.all(Array.from({ length: 5_000 }, async () => ids.next()));
      expect(new Set(made).size).toBe(5_000);
    });

    it('never makes an id that another generator makes', (run) => {
      const makeAnother = offered(another, run);
      const clock = fixedClock(START);
      const made = [...take(make(clock), 1_000), ...take(makeAnother(clock), 1_000)];
      expect(new Set(made).size).toBe(2_000);
    });

    it('makes ids in ascending order, even within a millisecond', () => {
      const clock = fixedClock(START);
      const ids = make(clock);
      const made = take(ids, 100);
      clock.advance(1);
      made.push(...take(ids, 100));
      expect(made).toEqual([...made].sort());
    });

    it('keeps the order when the clock steps back', () => {
      const clock = fixedClock(START);
      const ids = make(clock);
      const made = take(ids, 10);
      clock.advance(-3_600_000);
      made.push(...take(ids, 10));
      clock.advance(1);
      made.push(...take(ids, 10));
      expect(made).toEqual([...made].sort());
    });
  });
};
