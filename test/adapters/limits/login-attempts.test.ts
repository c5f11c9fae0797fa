import { Redis } from 'ioredis';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type Counts, memoryCounts, sharedCounts } from '../../../src/adapters/limits/counts.ts';
import { countAttempts } from '../../../src/adapters/limits/login-attempts.ts';
import { redisCounts } from '../../../src/adapters/redis/counts.ts';
import type { Attempt } from '../../../src/application/ports/login-attempts.ts';
import type { ThrottledClient } from '../../../src/domain/login-throttle.ts';
import { absent } from '../../contracts/hooks.ts';
import { describeLoginAttempts } from '../../contracts/login-attempts.contract.ts';
import { fixedClock } from '../../support/fixed-clock.ts';
import { redisOfTheTests } from '../../support/servers/of-the-tests.ts';
import { silentLogger } from '../../support/silent-logger.ts';
import { takeRedisDatabase } from '../../support/storage/redis-databases.ts';

const HOUR = 3_600_000;
const onNetwork = (name: string): ThrottledClient => ({ kind: 'network', names: [`${name}/16`, `${name}/24`, name] });
const ADA: Attempt = { key: 'account of-somebody', client: onNetwork('192.0.2.1') };

const inMemory = () => {
  const clock = fixedClock(Date.UTC(2026, 0, 1));
  const attempts = countAttempts(memoryCounts({ now: clock.now }), clock);
  return { attempts, clock, pass: async (milliseconds: number) => clock.advance(milliseconds) };
};

describeLoginAttempts('countAttempts in memory', async () => ({
  ...inMemory(),
  another: absent('one process has its counts to itself'),
  failing: absent('memory does not fail'),
}));

it('attempts at a count that changes too often have to wait, and are not counted', async () => {
  const attempts = countAttempts({ replace: async () => ({ text: '', now: 0 }) }, fixedClock(0));
  expect(await attempts.begin(ADA)).toBe(1_000);
  await attempts.succeed(ADA);
  await attempts.withdraw(ADA);
});

it('an attempt begins and ends with one call each, unless others were made meanwhile', async () => {
  const clock = fixedClock(Date.UTC(2026, 0, 1));
  const replace = vi.fn(memoryCounts({ now: clock.now }).replace);
  const attempts = countAttempts({ replace }, clock);
  const callsOf = async (work: () => Promise<unknown>) => {
    replace.mockClear();
    await work();
    return replace.mock.calls.length;
  };
  const [first, second] = [{ ...ADA }, { ...ADA, client: onNetwork('198.51.100.1') }];
  expect(await callsOf(() => attempts.begin(first))).toBe(1);
  expect(await callsOf(() => attempts.succeed(first))).toBe(1);
  await callsOf(() => attempts.begin(first));
  expect(await callsOf(() => attempts.begin(second))).toBe(2);
  expect(await callsOf(() => attempts.succeed(first))).toBe(2);
  expect(await callsOf(() => attempts.succeed(second))).toBe(2);
});

it.each([-10, 10])('instances whose clocks are %i min apart admit fifty attempts together', async (minutes) => {
  const clock = fixedClock(Date.UTC(2026, 0, 1));
  const stored = memoryCounts({ now: clock.now });
  const other = { now: () => clock.now() + minutes * 60_000 };
  const instances = [countAttempts(stored, other), countAttempts(stored, clock)] as const;
  const waits: number[] = [];
  for (let count = 0; count < 52; count += 1) waits.push(await instances[count % 2 === 0 ? 0 : 1].begin({ ...ADA }));
  expect(waits).toEqual([...Array<number>(50).fill(0), 1_000, 1_000]);
});

it('a text that is none of ours counts as none', async () => {
  const replaced: string[] = [];
  const replace = async (_key: string, former: string) =>
    replaced.push(former) > 1 ? null : { text: 'garbage', now: 0 };
  const attempts = countAttempts({ replace }, fixedClock(0));
  expect(await attempts.begin(ADA)).toBe(0);
  expect(replaced).toEqual(['', 'garbage']);
});

it('attempts of a client do not wait longer when the clock steps back', async () => {
  const { attempts, clock } = inMemory();
  for (let count = 0; count < 50; count += 1) await attempts.begin(ADA);
  expect(await attempts.begin(ADA)).toBe(1_000);
  clock.advance(-HOUR);
  expect(await attempts.begin(ADA)).toBe(0);
});

const server = redisOfTheTests();
describe.runIf(server !== undefined)('on Redis', () => {
  /** Over the clock of the test; keys expire as if the time had passed. */
  const inRedis = async () => {
    const url = await takeRedisDatabase(server ?? '');
    const connect = (): Redis => {
      const redis = new Redis(url);
      onTestFinished(() => redis.disconnect());
      return redis;
    };
    const clock = fixedClock(Date.UTC(2026, 0, 1));
    const over = (redis: Redis) => {
      const stored = redisCounts(redis);
      const shared: Counts = {
        ...stored,
        replace: async (...given) => {
          const other = await stored.replace(...given);
          return other && { ...other, now: clock.now() };
        },
      };
      return countAttempts(
        sharedCounts({ shared, own: memoryCounts() }, silentLogger, { unavailable: '', available: '' }),
        clock,
      );
    };
    const redis = connect();
    return {
      redis,
      attempts: over(redis),
      pass: async (milliseconds: number) => {
        clock.advance(milliseconds);
        for (const key of await redis.keys('*')) await redis.pexpire(key, (await redis.pttl(key)) - milliseconds);
      },
      another: async () => over(connect()),
      failing: async () => {
        const other = connect();
        other.disconnect();
        return over(other);
      },
    };
  };

  describeLoginAttempts('countAttempts', inRedis);

  it('the stored keys contain no account, are bounded in length, and expire', async () => {
    const { redis, attempts, pass } = await inRedis();
    for (let hour = 0; hour < 3; hour += 1) {
      for (let network = 0; network < 150; network += 1) {
        await attempts.begin({ ...ADA, client: onNetwork(`${hour}-${network}`) });
        await pass(24_000);
      }
    }
    const [key = '', ...others] = await redis.keys('*');
    expect(others).toEqual([]);
    expect(key).toMatch(/^tandem:throttle:[\w-]{43}$/);
    expect(await redis.strlen(key)).toBeLessThan(20_000);
    expect(await redis.pttl(key)).toBeGreaterThan(HOUR - 60_000);
    expect(await redis.pttl(key)).toBeLessThanOrEqual(HOUR);
  });
});
