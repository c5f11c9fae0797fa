// Proves ASVS 16.3.4; flood-1
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { ANSWERS_PREFIX, type Counts, memoryCounts, sharedCounts } from '../../../src/adapters/limits/counts.ts';
import { awaitRedis, connectRedis } from '../../../src/adapters/redis/connect.ts';
import { redisCounts } from '../../../src/adapters/redis/counts.ts';
import { fixedClock } from '../../support/fixed-clock.ts';
import { stageDeps } from '../../support/http/stage-app.ts';
import { redisOfTheTests } from '../../support/servers/of-the-tests.ts';
import { takeRedisDatabase } from '../../support/storage/redis-databases.ts';

const WINDOW = 60_000;
const HOUR = 3_600_000;

/** The text of a key. */
const textIn = async ({ replace }: Counts, key: string) => (await replace(key, 'what no key has', '', WINDOW))?.text;

type Store = {
  readonly counts: Counts;
  /** Makes keys expire as if the milliseconds had passed. */
  readonly pass: (milliseconds: number) => Promise<void>;
};

const inMemory = async (capacity = 100): Promise<Store> => {
  const clock = fixedClock(0);
  const pass = async (milliseconds: number) => clock.advance(milliseconds);
  return { counts: memoryCounts({ now: clock.now, capacity }), pass };
};

const server = redisOfTheTests();
const openRedis = async () => {
  const redis = connectRedis([await takeRedisDatabase(server ?? '')], stageDeps().logger, { commandTimeout: 60_000 });
  onTestFinished(() => redis.disconnect());
  await awaitRedis(redis, 60_000);
  return redis;
};
const inRedis = async (): Promise<Store & { readonly redis: Awaited<ReturnType<typeof openRedis>> }> => {
  const redis = await openRedis();
  const pass = async (milliseconds: number) => {
    for (const key of await redis.keys('*')) await redis.pexpire(key, (await redis.pttl(key)) - milliseconds);
  };
  return { redis, counts: redisCounts(redis), pass };
};

const STORES = [
  ['this process', true, inMemory],
  ['Redis', server !== undefined, inRedis],
] as const;

for (const [place, canRun, open] of STORES)
  describe.runIf(canRun)(`counts in ${place}`, () => {
    it('count the requests of each key in a window, which begins with the first', async () => {
      const { counts, pass } = await open();
      expect(await counts.countRequest('a', WINDOW)).toEqual({ count: 1, left: WINDOW });
      await pass(20_000);
      const { count, left } = await counts.countRequest('a', WINDOW);
      expect(count).toBe(2);
      expect(left).toBeGreaterThan(0);
      expect(left).toBeLessThanOrEqual(40_000);
      expect(await counts.countRequest('b', WINDOW)).toEqual({ count: 1, left: WINDOW });
      await pass(WINDOW);
      expect(await counts.countRequest('a', WINDOW)).toEqual({ count: 1, left: WINDOW });
    });

    it('are exact for requests at the same time', async () => {
      const { counts } = await open();
      const all = await Promise.all(Array.from({ length: 300 }, () => counts.countRequest('a', WINDOW)));
      expect(all.map(({ count }) => count).sort((a, b) => a - b)).toEqual(all.map((_none, at) => at + 1));
    });

    it('replace a text that has not changed, and forget it in time', async () => {
      const { counts, pass } = await open();
      const text = () => textIn(counts, 'a');
      expect(await text()).toBe('');
      expect(await counts.replace('a', '', 'one', WINDOW)).toBeNull();
      expect(await counts.replace('a', '', 'two', WINDOW)).toMatchObject({ text: 'one' });
      expect(await text()).toBe('one');
      await pass(40_000);
      expect(await counts.replace('a', 'one', 'two', WINDOW)).toBeNull();
      await pass(40_000);
      expect(await text()).toBe('two');
      await pass(20_000);
      expect(await text()).toBe('');
      await counts.replace('a', '', 'three', WINDOW);
      await counts.replace('a', 'three', '', WINDOW);
      expect(await text()).toBe('');
    });
  });

describe('counts in this process', () => {
  /** Counts a request of each of many clients. */
  const flood = async ({ countRequest }: Counts, clients: number) => {
    for (let client = 0; client < clients; client += 1) await countRequest(`client ${client}`, WINDOW);
  };

  it('drop the oldest keys when they are full, of requests and of log-ins', async () => {
    const { counts } = await inMemory(100);
    await counts.replace('a', '', 'text', WINDOW);
    for (const key of ['a', 'b']) await counts.countRequest(key, WINDOW);
    await flood(counts, 99);
    expect((await counts.countRequest('b', WINDOW)).count).toBe(2);
    expect((await counts.countRequest('a', WINDOW)).count).toBe(1);
    expect(await textIn(counts, 'a')).toBe('text');
    for (let key = 0; key < 100; key += 1) await counts.replace(`key ${key}`, '', 'text', WINDOW);
    expect(await textIn(counts, 'a')).toBe('');
  });

  it('keep 20 MB of answers to requests, which push out no count', async () => {
    const { counts } = await inMemory(100);
    await counts.replace('a', '', 'text', WINDOW);
    const long = 'x'.repeat(9_700);
    const answer = (key: number, former = '') => counts.replace(`${ANSWERS_PREFIX}${key}`, former, long, WINDOW);
    const areKept = () =>
      Promise.all([0, 1].map(async (key) => (await textIn(counts, `${ANSWERS_PREFIX}${key}`)) !== ''));
    for (let key = 0; key < 2_000; key += 1) await answer(key);
    await answer(1_999, long);
    expect(await areKept()).toEqual([true, true]);
    await answer(2_000);
    expect(await areKept()).toEqual([false, true]);
    expect(await textIn(counts, 'a')).toBe('text');
  });

  it('treat a key that begins a new window as the newest', async () => {
    const { counts, pass } = await inMemory(2);
    await counts.countRequest('a', 1_000);
    await counts.countRequest('b', WINDOW);
    await pass(1_000);
    await counts.countRequest('a', WINDOW);
    await counts.countRequest('c', WINDOW);
    expect((await counts.countRequest('a', WINDOW)).count).toBe(2);
  });
});

describe.runIf(server !== undefined)('counts in Redis', () => {
  it('end within a window after the clock of Redis was set back', async () => {
    const { redis, counts } = await inRedis();
    await counts.countRequest('a', WINDOW);
    await redis.pexpire('a', HOUR);
    expect(await counts.countRequest('a', WINDOW)).toEqual({ count: 2, left: WINDOW });
    expect(await redis.pttl('a')).toBeLessThanOrEqual(WINDOW);
  });

  it('go by the clock of Redis, and continue when it has lost the scripts', async () => {
    const { redis, counts } = await inRedis();
    vi.useFakeTimers({ toFake: ['Date'], now: 0 });
    const [seconds] = await redis.time();
    await redis.script('FLUSH');
    const other = await counts.replace('a', 'what no key has', '', WINDOW);
    expect(Math.abs((other?.now ?? 0) - Number(seconds) * 1_000)).toBeLessThan(WINDOW);
    for (const round of [1, 2]) {
      expect((await counts.countRequest('a', WINDOW)).count).toBe(round);
      expect(await counts.replace('b', round === 1 ? '' : '1', `${round}`, WINDOW)).toBeNull();
      await redis.script('FLUSH');
    }
  });

  const ODD: readonly (readonly [keyof Counts, unknown])[] = [
    ['countRequest', 'OK'],
    ['countRequest', null],
    ['countRequest', [1, 'x']],
    ['replace', null],
    ['replace', [null, 1]],
  ];
  it.each(ODD)('are not decided by a reply that is not that of the script: %s, %j', async (name, reply) => {
    const { redis, counts } = await inRedis();
    vi.spyOn(redis, 'sendCommand').mockResolvedValue(reply);
    const calls = {
      countRequest: () => counts.countRequest('a', WINDOW),
      replace: () => counts.replace('a', '', 'text', WINDOW),
    };
    await expect(calls[name]()).rejects.toThrow();
  });
});

describe('counts of all instances', () => {
  const LATER = 5_000;
  const setUp = () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const { logger, logs } = stageDeps();
    const store = memoryCounts();
    let isAway = false;
    let asked = 0;
    let fallbacks = 0;
    const unlessAway =
      <Given extends unknown[], Result>(work: (...given: Given) => Promise<Result>) =>
      async (...given: Given): Promise<Result> => {
        asked += 1;
        if (isAway) throw new Error('Connection is closed.');
        return work(...given);
      };
    const shared: Counts = { countRequest: unlessAway(store.countRequest), replace: unlessAway(store.replace) };
    const counts = sharedCounts(
      { shared, own: memoryCounts() },
      logger,
      { unavailable: 'away', available: 'back' },
      () => {
        fallbacks += 1;
      },
    );
    const setAway = (is: boolean) => {
      isAway = is;
      vi.advanceTimersByTime(LATER);
    };
    const count = async () => (await counts.countRequest('192.0.2.1', HOUR)).count;
    return { counts, logs, setAway, count, asked: () => asked, fallbacks: () => fallbacks };
  };

  it('are those of Redis while it responds', async () => {
    const { counts, count, logs, fallbacks } = setUp();
    expect([await count(), await count()]).toEqual([1, 2]);
    expect([counts.isDegraded(), fallbacks(), logs]).toEqual([false, 0, []]);
  });

  it('are made in the process while Redis is away, which is asked again after a pause', async () => {
    const { counts, count, setAway, asked, fallbacks } = setUp();
    await count();
    setAway(true);
    expect([await count(), await count()]).toEqual([1, 2]);
    expect([counts.isDegraded(), asked(), fallbacks()]).toEqual([true, 2, 2]);
    vi.advanceTimersByTime(LATER);
    expect([await count(), asked()]).toEqual([3, 3]);
    expect(await counts.replace('a', '', 'text', HOUR)).toBeNull();
    expect(await textIn(counts, 'a')).toBe('text');
  });

  it('are those of Redis again when it is back, and each change is logged once', async () => {
    const { counts, count, setAway, logs } = setUp();
    await count();
    for (const away of [true, true, false, false, true]) {
      setAway(away);
      await count();
    }
    setAway(false);
    expect([await count(), counts.isDegraded()]).toEqual([4, false]);
    expect(logs.map(({ level }) => level)).toEqual(['warn', 'info', 'warn', 'info']);
    expect(JSON.stringify(logs)).not.toContain('192.0.2.1');
  });
});
