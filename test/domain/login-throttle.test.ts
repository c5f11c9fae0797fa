// Proves SPEC 22.13; guess-1, guess-2
import { describe, expect, it } from 'vitest';
import {
  FAILURE_TTL,
  isObsolete,
  type LoginThrottle,
  type ThrottledClient,
  throttledDevice,
  waitingTime,
  withAttempt,
  withoutAttempt,
  withoutFailures,
} from '../../src/domain/login-throttle.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** A network that shares no group with another. */
const unrelated = (name: number | string): ThrottledClient => ({
  kind: 'network',
  names: [`${name}.0/16`, `${name}.0.0/24`, `${name}.0.0.1`],
});
/** A /64 network of IPv6, within its /48 and its /32. */
const within = (wide: number, middle: number, narrow: number): ThrottledClient => ({
  kind: 'network',
  names: [`${wide}::/32`, `${wide}:${middle}::/48`, `${wide}:${middle}:${narrow}::/64`],
});
const OWNER = unrelated('owner');
const ONE = unrelated('one');

const list = <Item>(length: number, make: (index: number) => Item): Item[] =>
  Array.from({ length }, (_none, index) => make(index));

/** A throttle with a clock that `pass` advances. */
const account = () => {
  let throttle: LoginThrottle | null = null;
  let now = 0;
  const wait = (client: ThrottledClient) => waitingTime(throttle, client, now);
  /** @returns whether the attempt was admitted. */
  const attempt = (client: ThrottledClient): boolean => {
    if (wait(client) > 0) return false;
    throttle = withAttempt(throttle, client, now);
    return true;
  };
  return {
    pass: (milliseconds: number) => {
      now += milliseconds;
    },
    wait,
    attempt,
    /** @returns how many of the attempts were admitted. */
    attempts: (client: ThrottledClient, times: number) => list(times, () => attempt(client)).filter(Boolean).length,
    succeed: (client: ThrottledClient) => {
      if (throttle !== null) throttle = withoutFailures(throttle, client);
    },
    state: (): LoginThrottle => throttle ?? { lastAt: now, clients: new Map(), buckets: new Map() },
  };
};

/**
 * Lets all of these networks attack for some hours with the best strategy: one after the other uses up the attempts that it has
 * before it counts as failing, and then pauses. @returns the fraction of the last hour in which the owner would be admitted.
 */
const admittedFraction = (owner: ThrottledClient, networks: readonly ThrottledClient[], hours = 4): number => {
  const { attempt, attempts, pass, wait } = account();
  const failures = new Map(networks.map((network) => [network, 0]));
  const pausesUntil = new Map<ThrottledClient, number>();
  attempts(ONE, 50);
  let open = 0;
  for (let second = 0; second < hours * 3_600; second += 10) {
    attempt(ONE);
    for (const network of networks) {
      if ((pausesUntil.get(network) ?? 0) > second) continue;
      const failed = attempt(network) ? (failures.get(network) ?? 0) + 1 : (failures.get(network) ?? 0);
      failures.set(network, failed % 3);
      if (failed === 3) pausesUntil.set(network, second + 3_600);
      if (failed > 0) break;
    }
    if (second >= (hours - 1) * 3_600 && wait(owner) === 0) open += 10;
    pass(10 * SECOND);
  }
  return open / 3_600;
};

describe('attackers on one account', () => {
  it('have at most two attempts a minute in the long run, from any number of networks', () => {
    const { attempt, pass } = account();
    let networks = 0;
    let admitted = 0;
    for (let hour = 0; hour < 3; hour += 1) {
      admitted = 0;
      for (let second = 0; second < 3_600; second += 4) {
        for (const name of ['one', 'two', networks++, networks++]) if (attempt(unrelated(name))) admitted += 1;
        pass(4 * SECOND);
      }
      expect(admitted).toBeLessThanOrEqual(hour === 0 ? 50 + 2 * (60 + 6) : 120);
    }
    expect(admitted).toBeGreaterThan(100);
  });

  it('gain no attempts by pauses or by successes of others', () => {
    const { attempt, attempts, pass, succeed } = account();
    const lastHour: number[] = [];
    for (let minute = 0; minute < 6 * 60; minute += 1) {
      attempt(OWNER);
      succeed(OWNER);
      let admitted = 0;
      for (const network of ['one', 'two', `of hour ${minute / 60}`]) admitted += attempts(unrelated(network), 60);
      lastHour.push(admitted);
      expect(lastHour.slice(-60).reduce((sum, each) => sum + each)).toBeLessThanOrEqual(50 + 2 * (60 + 6));
      // Mostly a minute, every 90 minutes an hour.
      pass(minute % 90 === 89 ? HOUR : MINUTE);
      if (minute % 90 === 89) lastHour.length = 0;
    }
  });

  it('are stored in bounded number, however long they attempt', () => {
    const { attempt, pass, state } = account();
    for (let network = 0; network < 1_000; network += 1) {
      attempt(within(network, network, network));
      pass(10 * SECOND);
      expect(state().clients.size).toBeLessThanOrEqual(250);
      expect(state().buckets.size).toBeLessThanOrEqual(250);
    }
  });

  it('do not delay the owner while one network attempts without pause', () => {
    const { attempt, pass, wait } = account();
    for (let second = 0; second < 600; second += 1) {
      attempt(ONE);
      pass(SECOND);
    }
    expect(wait(ONE)).toBeGreaterThan(0);
    expect(wait(OWNER)).toBe(0);
  });

  it.each([
    ['one unrelated network', list(1, unrelated), 0.95],
    ['ten unrelated networks', list(10, unrelated), 0.5],
    ['all of a /56', list(256, (index) => within(1, 1, index)), 0.9],
    ['a thousand networks of a /48', list(1_000, (index) => within(1, 1, index)), 0.9],
    ['a thousand networks of a /32', list(1_000, (index) => within(1, index, index)), 0.8],
    ['a thousand networks of three /32', list(1_000, (index) => within(index % 3, index, index)), 0.4],
  ])('leave new networks a part of every hour: %s', (_who, networks, part) => {
    expect(admittedFraction(OWNER, networks)).toBeGreaterThanOrEqual(part - 0.01);
  });

  it('do not make a neighbouring network count as failing, unless several networks of one provider fail', () => {
    const { attempts, pass, wait } = account();
    attempts(within(1, 1, 1), 50);
    pass(MINUTE);
    expect(wait(within(1, 1, 2))).toBe(0);
    expect(attempts(within(1, 1, 2), 3)).toBe(1);
    for (const _failure of [1, 2]) {
      pass(MINUTE);
      attempts(within(1, 1, 2), 1);
    }
    pass(MINUTE);
    attempts(within(1, 1, 1), 1);
    expect(wait(within(1, 1, 3))).toBeGreaterThan(0);
    expect(wait(within(1, 2, 1))).toBe(0);
  });

  it('have their own buckets once they are failing, which no other network can take', () => {
    const { attempt, attempts, pass } = account();
    const [two, three] = [unrelated('two'), unrelated('three')];
    for (const client of [ONE, two, three]) attempts(client, 17);
    let [turnsOfTwo, all] = [0, 0];
    for (let second = 0; second < 3_600; second += 1) {
      for (const client of [ONE, three]) if (attempt(client)) all += 1;
      // Attempts only every 50 seconds.
      if (second % 50 === 0 && attempt(two)) turnsOfTwo += 1;
      pass(SECOND);
    }
    expect(turnsOfTwo).toBeGreaterThanOrEqual(15);
    expect(all + turnsOfTwo).toBeLessThanOrEqual(60 + 10);
  });
});

describe("the user's devices", () => {
  const device = (index: number) => throttledDevice(`device ${index}`.replace(' ', '-'));

  it.each([
    [1, 50],
    [5, 50 + 4 * 3],
    [50, 50 + 49 * 3],
    [300, 50 + 50 * 3],
  ])('have a bounded number of attempts together: %i of them', (count, bound) => {
    const { attempts } = account();
    let admitted = 0;
    for (let index = 0; index < count; index += 1) admitted += attempts(device(index), 60);
    expect(admitted).toBeLessThanOrEqual(bound);
    expect(admitted).toBeGreaterThanOrEqual(50);
  });

  it('have one attempt a minute together in the long run, and each its own free attempts in an hour', () => {
    for (const count of [1, 5, 50]) {
      const { attempt, pass } = account();
      let admitted = 0;
      for (let second = 0; second < 2 * 3_600; second += 10) {
        if (second === 3_600) admitted = 0;
        for (let index = 0; index < count; index += 1) if (attempt(device(index))) admitted += 1;
        pass(10 * SECOND);
      }
      expect(admitted).toBeLessThanOrEqual(60 + 3 * count);
    }
  });

  it.each([1, 2, 49])('are not delayed by %i others that guess without pause', (guessers) => {
    const { attempt, pass, wait } = account();
    const mine = device(1_000);
    for (let second = 0; second < 3_600; second += 10) {
      for (let index = 0; index < guessers; index += 1) attempt(device(index));
      expect(wait(mine)).toBe(0);
      pass(10 * SECOND);
    }
    expect([attempt(mine), attempt(mine), attempt(mine)]).toEqual([true, true, true]);
    // Then it waits for its own bucket, however often the others attempt.
    let waited = 0;
    while (!attempt(mine)) {
      for (let index = 0; index < guessers; index += 1) attempt(device(index));
      pass(SECOND);
      waited += 1;
    }
    expect(waited).toBeLessThanOrEqual(60 * (guessers + 1));
  });

  it('are stored in bounded number, however many there are', () => {
    const { attempt, pass, state } = account();
    for (let index = 0; index < 1_000; index += 1) {
      attempt(device(index));
      pass(10 * SECOND);
      expect(state().clients.size).toBeLessThanOrEqual(250);
    }
  });
});

describe('a throttle', () => {
  it('is forgotten an hour after the last attempt', () => {
    const state = withAttempt(null, ONE, 0);
    expect([isObsolete(state, FAILURE_TTL - 1), isObsolete(state, FAILURE_TTL)]).toEqual([false, true]);
    expect(isObsolete(withAttempt(null, ONE, HOUR), HOUR)).toBe(false);
    expect(FAILURE_TTL).toBe(HOUR);
    const buckets = new Map([1, 2].map((at) => [`used at ${at}`, at]));
    expect([...withAttempt({ ...state, buckets }, ONE, HOUR + 1).buckets.keys()]).toEqual(['used at 2', '']);
    expect(withAttempt(state, ONE, HOUR).clients.get('one.0/16 one.0.0/24 one.0.0.1 ')?.failures).toBe(1);
  });

  it.each([
    ['network', ONE],
    ['device', throttledDevice('one')],
  ])('is unchanged after an attempt of a %s is withdrawn, whether failures are free or not', (_kind, client) => {
    const { attempt, pass, state } = account();
    const others = [client, OWNER, throttledDevice('other')];
    for (let failure = 0; failure < 53; failure += 1) {
      const now = failure * MINUTE;
      const before = state();
      const waits = others.map((each) => waitingTime(before, each, now));
      expect(attempt(client)).toBe(true);
      const after = withoutAttempt(state(), client);
      expect(after.clients.size).toBe(failure === 0 ? 0 : 1);
      expect(others.map((each) => waitingTime(after, each, now))).toEqual(waits);
      expect(withAttempt(after, client, now)).toEqual(state());
      pass(MINUTE);
    }
  });

  it('admits an attempt when the clock was set back', () => {
    const { attempts, pass, wait } = account();
    pass(HOUR);
    attempts(ONE, 51);
    expect(wait(ONE)).toBeGreaterThan(0);
    pass(-MINUTE);
    expect(wait(ONE)).toBe(0);
  });

  it('forgets the failures of a client that succeeds, and keeps those of the others', () => {
    const { attempts, succeed, state } = account();
    attempts(ONE, 20);
    attempts(OWNER, 20);
    succeed(OWNER);
    expect([...state().clients.values()].map(({ failures }) => failures)).toEqual([20]);
    succeed(ONE);
    expect(isObsolete(state(), 0)).toBe(true);
  });

  it('gives back the bucket that a success has used', () => {
    const { attempt, attempts, pass, succeed, wait } = account();
    attempts(ONE, 50);
    pass(MINUTE);
    expect(attempt(OWNER)).toBe(true);
    expect(wait(unrelated('another'))).toBeGreaterThan(0);
    succeed(OWNER);
    expect(wait(unrelated('another'))).toBe(0);
  });

  it('ignores the result of an attempt that was forgotten before', () => {
    const state = withAttempt(null, ONE, 0);
    for (const settle of [withoutAttempt, withoutFailures]) {
      expect(settle(settle(state, ONE), ONE).clients.size).toBe(0);
      expect(settle(state, OWNER)).toEqual(state);
    }
  });
});
