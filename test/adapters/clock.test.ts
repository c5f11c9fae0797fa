import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/adapters/clock/system.ts';
import { describeClock } from '../contracts/clock.contract.ts';
import { fixedClock } from '../support/fixed-clock.ts';

const START = Date.UTC(2026, 0, 1);

describeClock('systemClock', () => systemClock);
describeClock(
  'fixedClock',
  () => fixedClock(START),
  (clock) => clock.advance(1),
);

describe('fixedClock', () => {
  it('changes only when it is set or advanced', () => {
    const clock = fixedClock(START);
    expect([clock.now(), clock.now()]).toEqual([START, START]);
    clock.advance(5);
    expect(clock.now()).toBe(START + 5);
    clock.advance(-10);
    expect(clock.now()).toBe(START - 5);
    clock.set(START + 1);
    expect(clock.now()).toBe(START + 1);
  });
});
