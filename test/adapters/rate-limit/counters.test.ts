import { describe, expect, it } from 'vitest';
import { Counters } from '../../../src/adapters/http/rate-limit/counters.ts';

const inSeconds = (seconds: number) => ({ reset: Date.now() / 1000 + seconds });
const LIVE = inSeconds(600);
const OVER = inSeconds(-1);

describe('counters', () => {
  it('are the Map that the driver asks for', () => {
    const counters = new Counters(10);
    expect(counters).toBeInstanceOf(Map);
    expect(counters.set('a', LIVE)).toBe(counters);
    expect(counters.get('a')).toBe(LIVE);
    expect(counters.has('b')).toBe(false);
  });

  it('are never more than their capacity, however many strangers come', () => {
    const counters = new Counters(100);
    for (let stranger = 0; stranger < 10_000; stranger += 1) {
      counters.set(`stranger ${stranger}`, LIVE);
      expect(counters.size).toBeLessThanOrEqual(100);
    }
    expect(counters.size).toBe(100);
  });

  it('forget the oldest first when there is no room', () => {
    const counters = new Counters(3);
    for (const key of ['a', 'b', 'c', 'd', 'e']) counters.set(key, LIVE);
    expect([...counters.keys()]).toEqual(['c', 'd', 'e']);
  });

  it('forget those whose window is over when a new one comes', () => {
    const counters = new Counters(100);
    counters.set('over', OVER);
    expect(counters.has('over')).toBe(true);
    counters.set('new', LIVE);
    expect([...counters.keys()]).toEqual(['new']);
  });

  it('keep those whose window is not over while there is room', () => {
    const counters = new Counters(3);
    for (const key of ['a', 'b', 'c']) counters.set(key, LIVE);
    expect([...counters.keys()]).toEqual(['a', 'b', 'c']);
  });

  it('take a key that begins a new window for the newest', () => {
    const counters = new Counters(4);
    for (const key of ['a', 'b', 'c', 'a']) counters.set(key, LIVE);
    expect([...counters.keys()]).toEqual(['b', 'c', 'a']);
  });
});
