import { describe, expect, it } from 'vitest';
import {
  counted,
  isForgotten,
  type LoginThrottle,
  MEMORY,
  waitFor,
  withdrawn,
} from '../../src/domain/login-throttle.ts';

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;

/** An account that is tried at, at a time that passes when it is told to. */
const account = () => {
  let throttle: LoginThrottle | null = null;
  let now = 0;
  return {
    pass: (milliseconds: number) => {
      now += milliseconds;
    },
    wait: (network: string) => waitFor(throttle, network, now),
    /** @returns whether the try was let through. */
    attempt: (network: string): boolean => {
      if (waitFor(throttle, network, now) > 0) return false;
      throttle = counted(throttle, network, now);
      return true;
    },
    state: () => throttle,
  };
};

describe('the throttle of log-ins', () => {
  it('lets two tries a minute through at most, in the long run, from however many networks', () => {
    const { attempt, pass } = account();
    let networks = 0;
    let admitted = 0;
    for (let hour = 0; hour < 3; hour += 1) {
      admitted = 0;
      for (let second = 0; second < 3_600; second += 1) {
        for (const network of ['one', 'two', `${networks++}`, `${networks++}`]) if (attempt(network)) admitted += 1;
        pass(SECOND);
      }
      expect(admitted).toBeLessThanOrEqual(hour === 0 ? 100 + 2 * (60 + 6) : 120);
    }
    expect(admitted).toBeGreaterThan(100);
  });

  it('remembers a bounded number of networks, whoever tries for how long', () => {
    const { attempt, pass, state } = account();
    for (let network = 0; network < 50_000; network += 1) {
      attempt(`network ${network}`);
      pass(SECOND);
      expect(state()?.networks.size).toBeLessThanOrEqual(250);
    }
  });

  it.each([1, 5, 15])(
    'is open to a newcomer for a part of every hour while %i networks never cease to try',
    (count) => {
      const { attempt, pass, wait } = account();
      let open = 0;
      for (let second = 0; second < 6 * 3_600; second += 1) {
        for (let network = 0; network < count; network += 1) attempt(`network ${network}`);
        if (wait('owner') === 0) open += 1;
        pass(SECOND);
      }
      expect(open).toBeGreaterThan(3_600);
    },
  );

  it('lets the owner in at once while one network never ceases to try', () => {
    const { attempt, pass, wait } = account();
    for (let second = 0; second < 600; second += 1) {
      attempt('stranger');
      pass(SECOND);
    }
    expect(wait('stranger')).toBeGreaterThan(0);
    expect(wait('owner')).toBe(0);
  });

  it('is forgotten an hour after the last try', () => {
    const state = counted(null, 'network', 0);
    expect([isForgotten(state, MEMORY - 1), isForgotten(state, MEMORY)]).toEqual([false, true]);
    expect(MEMORY).toBe(HOUR);
    expect(counted(state, 'network', HOUR).failures).toBe(1);
  });

  it('is as before when a try is withdrawn, whether failures are free or not', () => {
    const { attempt, pass, state } = account();
    for (let failure = 0; failure < 103; failure += 1) {
      const before = state();
      const waits = ['stranger', 'newcomer'].map((network) => waitFor(before, network, failure * 60 * SECOND));
      expect(attempt('stranger')).toBe(true);
      const after = withdrawn(state() as LoginThrottle, 'stranger');
      expect(after.failures).toBe(before?.failures ?? 0);
      expect(after.networks.get('stranger')?.failures).toBe(before?.networks.get('stranger')?.failures);
      expect(['stranger', 'newcomer'].map((network) => waitFor(after, network, failure * 60 * SECOND))).toEqual(waits);
      expect(counted(after, 'stranger', failure * 60 * SECOND)).toEqual(state());
      pass(60 * SECOND);
    }
  });

  it('takes no harm from a try withdrawn that was forgotten meanwhile', () => {
    const state = withdrawn(withdrawn(counted(null, 'network', 0), 'network'), 'network');
    expect(state).toMatchObject({ failures: 0, slots: null });
    expect(state.networks.size).toBe(0);
  });
});
