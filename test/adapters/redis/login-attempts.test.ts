import fc from 'fast-check';
import { Redis } from 'ioredis';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { redisLoginAttempts, sharedLoginAttempts } from '../../../src/adapters/redis/login-attempts.ts';
import { memoryLoginAttempts } from '../../../src/adapters/redis/login-attempts-in-memory.ts';
import type { Attempt, LoginAttempts } from '../../../src/application/ports/login-attempts.ts';
import { deviceClient, type LoginClient } from '../../../src/domain/login-throttle.ts';
import { absent } from '../../contracts/hooks.ts';
import { describeLoginAttempts } from '../../contracts/login-attempts.contract.ts';
import { fixedClock } from '../../support/fixed-clock.ts';
import { stageDeps } from '../../support/http/stage-app.ts';
import { holds } from '../../support/properties/properties.ts';
import { redisOfTheTests } from '../../support/servers/of-the-tests.ts';
import { takeRedisDatabase } from '../../support/storage/redis-databases.ts';

const HOUR = 3_600_000;
const FREE = 50;
const onNetwork = (name: string): LoginClient => ({ kind: 'network', names: [`${name}/16`, `${name}/24`, name] });
const ADA: Attempt = { key: 'account of-somebody', client: onNetwork('192.0.2.1') };

const inMemory = (capacity = 1_000) => {
  const clock = fixedClock(Date.UTC(2026, 0, 1));
  const attempts = memoryLoginAttempts({ now: clock.now, capacity });
  return { attempts, clock, pass: async (milliseconds: number) => clock.advance(milliseconds) };
};

describeLoginAttempts('memoryLoginAttempts', async () => ({
  ...inMemory(),
  another: absent('one process has its counts to itself'),
  failing: absent('memory does not fail'),
}));

describe('memoryLoginAttempts', () => {
  it('never exceeds its capacity, and drops the accounts with the oldest last attempt', async () => {
    const { attempts } = inMemory(10);
    for (let account = 0; account < FREE; account += 1) {
      await attempts.begin({ ...ADA, key: `account ${account}` });
      await attempts.begin(ADA);
      expect(attempts.size()).toBeLessThanOrEqual(10);
    }
    expect(await attempts.begin(ADA)).toBeGreaterThan(0);
  });

  it('forgets accounts without an attempt for an hour', async () => {
    const { attempts, clock } = inMemory();
    for (let account = 0; account < 10; account += 1) await attempts.begin({ ...ADA, key: `account ${account}` });
    clock.advance(HOUR);
    await attempts.begin(ADA);
    expect(attempts.size()).toBe(1);
  });

  it('does not wait longer when the clock steps back', async () => {
    const { attempts, clock } = inMemory();
    for (let count = 0; count < FREE; count += 1) await attempts.begin(ADA);
    expect(await attempts.begin(ADA)).toBe(1_000);
    clock.advance(-HOUR);
    expect(await attempts.begin(ADA)).toBe(0);
  });
});

/** Makes keys expire as if the milliseconds had passed. */
const age = async (redis: Redis, milliseconds: number): Promise<void> => {
  for (const key of await redis.keys('*')) await redis.pexpire(key, (await redis.pttl(key)) - milliseconds);
};

const server = redisOfTheTests();
describe.runIf(server !== undefined)('on Redis', () => {
  const open = async () => {
    const { url, empty } = await takeRedisDatabase(server ?? '');
    const redis = new Redis(url);
    const close = async () => {
      redis.disconnect();
      await empty();
    };
    return { redis, url, close };
  };

  const inRedis = async () => {
    const { redis, url, close } = await open();
    const others: Redis[] = [];
    const connect = (): Redis => {
      const other = new Redis(url);
      others.push(other);
      return other;
    };
    const clock = fixedClock(Date.UTC(2026, 0, 1));
    const pass = async (milliseconds: number) => {
      clock.advance(milliseconds);
      await age(redis, milliseconds);
    };
    return {
      redis,
      attempts: redisLoginAttempts(redis, clock.now),
      pass,
      another: async () => redisLoginAttempts(connect(), clock.now),
      failing: async () => {
        const other = connect();
        other.disconnect();
        return redisLoginAttempts(other, clock.now);
      },
      close: async () => {
        for (const other of others) other.disconnect();
        await close();
      },
    };
  };

  describeLoginAttempts('redisLoginAttempts', async () => ({
    ...(await inRedis()),
    failing: absent('rejects with the errors of ioredis, which sharedLoginAttempts catches'),
  }));
  describeLoginAttempts('sharedLoginAttempts', async () => {
    const { attempts, another, failing, ...rest } = await inRedis();
    const over = (shared: LoginAttempts) =>
      sharedLoginAttempts({ shared, own: memoryLoginAttempts() }, stageDeps().logger);
    return {
      ...rest,
      attempts: over(attempts),
      another: async () => over(await another()),
      failing: async () => over(await failing()),
    };
  });

  it.each([
    ['read', 'OK'],
    ['read', [null, 1]],
    ['read', ['not a count', 1]],
    ['swap', 'OK'],
  ] as const)('the reply to %s that is not that of the script is no count: %j', async (command, reply) => {
    const { redis, attempts, close } = await inRedis();
    onTestFinished(close);
    vi.spyOn(redis, `${command}Throttle`).mockResolvedValue(reply as never);
    await expect(attempts.begin(ADA)).rejects.toThrow();
    expect(vi.mocked(redis[`${command}Throttle`])).toHaveBeenCalledTimes(1);
  });

  it('the counts equal those in the process, for random attempts', async () => {
    const clients = [
      ...[1, 2, 3, 4, 5, 6, 7, 8].map((name) => onNetwork(`unrelated-${name}`)),
      ...[1, 2, 3, 4, 5, 6, 7, 8].map((name): LoginClient => ({ kind: 'network', names: ['w', 'm', `n-${name}`] })),
      ...[1, 2, 3, 4].map((name): LoginClient => ({ kind: 'network', names: ['w', `m-${name}`, 'n'] })),
      ...[1, 2, 3, 4].map((name) => deviceClient(`device-${name}`)),
    ];
    const step = fc.record({
      what: fc.constantFrom(
        'begin' as const,
        'begin' as const,
        'begin' as const,
        'succeed' as const,
        'withdraw' as const,
      ),
      client: fc.constantFrom(...clients),
      times: fc.integer({ min: 1, max: 12 }),
      pause: fc.constantFrom(0, 0, 500, 20_000, 60_000, 600_000),
    });
    await holds(
      fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 60 }), async (steps) => {
        const [shared, own] = [await inRedis(), inMemory()];
        for (const { what, client, times, pause } of steps) {
          const attempt = { key: client.kind, client };
          for (let count = 0; count < times; count += 1) {
            if (what === 'begin') expect(await shared.attempts.begin(attempt)).toBe(await own.attempts.begin(attempt));
            else await Promise.all([shared, own].map(({ attempts }) => attempts[what](attempt)));
          }
          for (const { pass } of [shared, own]) await pass(pause);
        }
        await shared.close();
        return true;
      }),
      { numRuns: 20 },
    );
  });

  it('instances share their counts', async () => {
    const { redis, url, close } = await open();
    onTestFinished(close);
    const other = new Redis(url);
    onTestFinished(() => other.disconnect());
    const { now } = fixedClock(Date.UTC(2026, 0, 1));
    const instances = [redisLoginAttempts(redis, now), redisLoginAttempts(other, now)];
    const waits = await Promise.all(
      Array.from({ length: 2 * FREE }, (_none, index) => instances[index % 2]?.begin(ADA)),
    );
    expect(waits.filter((wait) => wait === 0)).toHaveLength(FREE);
  });

  it('the stored keys contain no account, are bounded in length, and expire', async () => {
    const { redis, attempts, pass, close } = await inRedis();
    onTestFinished(close);
    for (let hour = 0; hour < 3; hour += 1) {
      for (let network = 0; network < 150; network += 1) {
        await attempts.begin({ ...ADA, client: onNetwork(`${hour}-${network}`) });
        await pass(24_000);
      }
    }
    const [key = '', ...others] = await redis.keys('*');
    expect(others).toEqual([]);
    expect(key).toMatch(/^tandem:throttle:\{[\w-]{43}\}$/);
    expect(await redis.strlen(key)).toBeLessThan(20_000);
    expect(await redis.pttl(key)).toBeGreaterThan(HOUR - 60_000);
    expect(await redis.pttl(key)).toBeLessThanOrEqual(HOUR);
  });

  it('the time is that of Redis, not of this machine', async () => {
    const { redis, close } = await open();
    onTestFinished(close);
    vi.useFakeTimers({ toFake: ['Date'], now: 0 });
    onTestFinished(() => {
      vi.useRealTimers();
    });
    await redisLoginAttempts(redis).begin(ADA);
    const [key = ''] = await redis.keys('*');
    const [lastAt] = JSON.parse((await redis.get(key)) ?? '');
    const [seconds] = await redis.time();
    expect(Math.abs(lastAt - Number(seconds) * 1_000)).toBeLessThan(60_000);
  });

  it('continues when Redis has lost the scripts', async () => {
    const { redis, attempts, close } = await inRedis();
    onTestFinished(close);
    await attempts.begin(ADA);
    await redis.script('FLUSH');
    expect(await attempts.begin(ADA)).toBe(0);
  });
});

describe('sharedLoginAttempts', () => {
  const setUp = () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => {
      vi.useRealTimers();
    });
    const { logger, logs } = stageDeps();
    let unavailable = false;
    const { attempts: store } = inMemory();
    const asked: string[] = [];
    const unless = <Answer>(work: () => Promise<Answer>): Promise<Answer> => {
      asked.push('redis');
      return unavailable ? Promise.reject(new Error('Connection is closed.')) : work();
    };
    const shared: LoginAttempts = {
      begin: (attempt) => unless(() => store.begin(attempt)),
      succeed: (attempt) => unless(() => store.succeed(attempt)),
      withdraw: (attempt) => unless(() => store.withdraw(attempt)),
    };
    const { attempts: own } = inMemory();
    const attempts = sharedLoginAttempts({ shared, own }, logger);
    const set = (is: boolean) => {
      unavailable = is;
      vi.advanceTimersByTime(5_000);
    };
    return { attempts, own, logs, asked, goAway: () => set(true), comeBack: () => set(false) };
  };

  it('counts in the process while Redis is unavailable, without an error', async () => {
    const { attempts, goAway } = setUp();
    goAway();
    await attempts.succeed(ADA);
    await attempts.withdraw(ADA);
    for (let count = 0; count < FREE; count += 1) expect(await attempts.begin(ADA)).toBe(0);
    expect(await attempts.begin(ADA)).toBe(1_000);
    await attempts.succeed(ADA);
    expect(await attempts.begin(ADA)).toBe(0);
  });

  it('retries Redis only after a pause', async () => {
    const { attempts, asked, goAway } = setUp();
    goAway();
    for (let count = 0; count < 10; count += 1) await attempts.begin(ADA);
    expect(asked).toHaveLength(1);
    vi.advanceTimersByTime(5_000);
    await attempts.begin(ADA);
    expect(asked).toHaveLength(2);
  });

  it('returns to the shared count when Redis is available again, and logs each change once', async () => {
    const { attempts, logs, goAway, comeBack } = setUp();
    for (let count = 0; count < FREE; count += 1) await attempts.begin(ADA);
    goAway();
    expect(await attempts.begin(ADA)).toBe(0);
    goAway();
    await attempts.begin(ADA);
    comeBack();
    expect(await attempts.begin(ADA)).toBe(1_000);
    await attempts.begin(ADA);
    expect(logs.map(({ level }) => level)).toEqual(['warn', 'info']);
    expect(JSON.stringify(logs)).not.toMatch(/of-somebody|192\.0\.2\.1/);
  });
});
