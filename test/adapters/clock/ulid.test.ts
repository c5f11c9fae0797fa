// Proves SPEC 2.1
import { decodeTime } from 'ulid';
import { describe, expect, it } from 'vitest';
import { ulidGenerator } from '../../../src/adapters/clock/system.ts';
import type { IdGenerator } from '../../../src/application/ports/clock-and-ids.ts';
import { fixedClock } from '../../support/fixed-clock.ts';

const ULID = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;
const START = Date.UTC(2026, 0, 1);

const take = (ids: IdGenerator, count: number) => Array.from({ length: count }, () => ids.next());

describe('ulidGenerator', () => {
  it("makes ULIDs: 26 characters of Crockford's base 32", () => {
    for (const id of take(ulidGenerator(fixedClock(START)), 1_000)) expect(id).toMatch(ULID);
  });

  it('keeps the order when the clock steps back', () => {
    const clock = fixedClock(START);
    const ids = ulidGenerator(clock);
    const made = take(ids, 10);
    clock.advance(-3_600_000);
    made.push(...take(ids, 10));
    clock.advance(1);
    made.push(...take(ids, 10));
    expect(made).toEqual([...made].sort());
  });

  it('writes the time of its clock into the id', () => {
    const clock = fixedClock(Date.UTC(2026, 0, 1));
    const ids = ulidGenerator(clock);
    expect(decodeTime(ids.next())).toBe(clock.now());
    clock.advance(86_400_000);
    expect(decodeTime(ids.next())).toBe(clock.now());
  });

  it('draws each of the 16 random characters from all 32, evenly', () => {
    const clock = fixedClock(Date.UTC(2026, 0, 1));
    const ids = ulidGenerator(clock);
    const counts = new Map<string, number>();
    for (let made = 0; made < 20_000; made += 1) {
      clock.advance(1);
      for (const [at, character] of [...ids.next().slice(10)].entries()) {
        const key = `${at} ${character}`;
        counts.set(key, (counts.get(key) ?? 0) + 1);
      }
    }
    expect(counts.size).toBe(16 * 32);
    // 625 are expected of each, with a standard deviation of 25.
    for (const [key, count] of counts) expect(Math.abs(count - 625), key).toBeLessThan(250);
  });
});
