import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { Counters } from '../../../src/adapters/http/rate-limit/rate-limiter.ts';

const WINDOW = 60_000;
/** The time of the driver in seconds, which is independent of the system clock. */
const NOW = 1_000;
/** The entry that the driver stores at a time in seconds. */
const setAt = (time: number) => ({ reset: time + WINDOW / 1000 });
const LIVE = setAt(NOW);

const countersFor = (capacity: number) => new Counters({ window: WINDOW, capacity });

describe('counters', () => {
  it('have the methods of Map that the driver uses', () => {
    const counters = countersFor(10);
    expect(counters).toBeInstanceOf(Map);
    expect(counters.set('a', LIVE)).toBe(counters);
    const [first, second] = [counters.get('a'), counters.get('a')];
    expect([first, second]).toEqual([LIVE, LIVE]);
    expect(first).not.toBe(second);
    expect(counters.has('b')).toBe(false);
  });

  it('never exceed their capacity, however many clients there are', () => {
    const counters = countersFor(100);
    for (let client = 0; client < 10_000; client += 1) {
      counters.set(`client ${client}`, LIVE);
      expect(counters.size).toBeLessThanOrEqual(100);
    }
    expect(counters.size).toBe(100);
  });

  it('drop the oldest first when they are full', () => {
    const counters = countersFor(3);
    for (const key of ['a', 'b', 'c', 'd', 'e']) counters.set(key, LIVE);
    expect([...counters.keys()]).toEqual(['c', 'd', 'e']);
  });

  it('drop those whose window has ended when a new one is added', () => {
    const counters = countersFor(100);
    counters.set('over', LIVE);
    counters.set('not quite over', setAt(NOW + 1));
    counters.set('new', setAt(NOW + 60));
    expect([...counters.keys()]).toEqual(['not quite over', 'new']);
  });

  it('keep those whose window has not ended while there is space', () => {
    const counters = countersFor(3);
    for (const key of ['a', 'b', 'c']) counters.set(key, LIVE);
    expect([...counters.keys()]).toEqual(['a', 'b', 'c']);
  });

  it('treat a key that starts a new window as the newest', () => {
    const counters = countersFor(4);
    for (const key of ['a', 'b', 'c', 'a']) counters.set(key, LIVE);
    expect([...counters.keys()]).toEqual(['b', 'c', 'a']);
  });

  it('return the remaining time of a window, whatever the system clock', () => {
    vi.useFakeTimers({ toFake: ['performance', 'Date'] });
    onTestFinished(() => void vi.useRealTimers());
    const counters = countersFor(10);
    counters.set('a', LIVE);
    expect(counters.secondsUntil(LIVE.reset)).toBeCloseTo(60);
    vi.advanceTimersByTime(20_000);
    vi.setSystemTime(0);
    expect(counters.secondsUntil(LIVE.reset)).toBeCloseTo(40);
    counters.set('b', setAt(NOW + 20));
    expect(counters.secondsUntil(LIVE.reset)).toBeCloseTo(40);
  });
});
