import { decodeTime } from 'ulid';
import { describe, expect, it } from 'vitest';
import { ulidGenerator } from '../../src/adapters/crypto/ulid.ts';
import { absent } from '../contracts/hooks.ts';
import { describeIdGenerator } from '../contracts/id-generator.contract.ts';
import { fixedClock } from '../support/fixed-clock.ts';
import { sequentialIds } from '../support/sequential-ids.ts';

describeIdGenerator('ulidGenerator', ulidGenerator);
describeIdGenerator('sequentialIds', sequentialIds, absent('they are the same in every run'));

describe('ulidGenerator', () => {
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

  it('makes different ids than another generator at the same time', () => {
    const clock = fixedClock(Date.UTC(2026, 0, 1));
    const made = Array.from({ length: 200 }, () => ulidGenerator(clock).next());
    expect(new Set(made).size).toBe(200);
  });
});

describe('sequentialIds', () => {
  it('makes the same ids in every run', () => {
    const [first, second] = [sequentialIds(), sequentialIds()];
    for (let count = 0; count < 100; count += 1) expect(first.next()).toBe(second.next());
  });
});
