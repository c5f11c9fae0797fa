import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { Counters } from '../../../src/adapters/http/rate-limit/counters.ts';

const WINDOW = 60_000;
/** The driver's time in seconds; what it has to do with that of the system, nobody knows. */
const NOW = 1_000;
/** What the driver sets at a time, in seconds. */
const setAt = (time: number) => ({ reset: time + WINDOW / 1000 });
const LIVE = setAt(NOW);

const countersFor = (capacity: number) => new Counters({ window: WINDOW, capacity });

describe('counters', () => {
  it('are the Map that the driver asks for', () => {
    const counters = countersFor(10);
    expect(counters).toBeInstanceOf(Map);
    expect(counters.set('a', LIVE)).toBe(counters);
    expect(counters.get('a')).toBe(LIVE);
    expect(counters.has('b')).toBe(false);
  });

  // Proves: flood-1
  it('are never more than their capacity, however many strangers come', () => {
    const counters = countersFor(100);
    for (let stranger = 0; stranger < 10_000; stranger += 1) {
      counters.set(`stranger ${stranger}`, LIVE);
      expect(counters.size).toBeLessThanOrEqual(100);
    }
    expect(counters.size).toBe(100);
  });

  it('forget the oldest first when there is no room', () => {
    const counters = countersFor(3);
    for (const key of ['a', 'b', 'c', 'd', 'e']) counters.set(key, LIVE);
    expect([...counters.keys()]).toEqual(['c', 'd', 'e']);
  });

  it('forget those whose window is over when a new one comes', () => {
    const counters = countersFor(100);
    counters.set('over', LIVE);
    counters.set('not quite over', setAt(NOW + 1));
    counters.set('new', setAt(NOW + 60));
    expect([...counters.keys()]).toEqual(['not quite over', 'new']);
  });

  it('keep those whose window is not over while there is room', () => {
    const counters = countersFor(3);
    for (const key of ['a', 'b', 'c']) counters.set(key, LIVE);
    expect([...counters.keys()]).toEqual(['a', 'b', 'c']);
  });

  it('take a key that begins a new window for the newest', () => {
    const counters = countersFor(4);
    for (const key of ['a', 'b', 'c', 'a']) counters.set(key, LIVE);
    expect([...counters.keys()]).toEqual(['b', 'c', 'a']);
  });

  it('tell how long a window still lasts, whatever the clock of the system says', () => {
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
