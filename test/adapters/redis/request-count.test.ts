import type { Redis } from 'ioredis';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { awaitRedis, connectRedis } from '../../../src/adapters/redis/connect.ts';
import { redisCount } from '../../../src/adapters/redis/request-count.ts';
import { probe, stageApp, stageDeps } from '../../support/http/stage-app.ts';
import { blockEventLoop } from '../../support/processes/block-event-loop.ts';
import { canStartServers, redisOfTheTests, startRedis } from '../../support/servers/of-the-tests.ts';
import { takeRedisDatabase } from '../../support/storage/redis-databases.ts';

const server = redisOfTheTests();
const WINDOW = 60_000;
const HOUR = 3_600_000;
const LIMIT = 3;
const TIMEOUT = 250;

/** Starts applications that limit `GET /probe` in one Redis. Returns a client of that Redis too. */
const setUp = async () => {
  const { url, empty } = await takeRedisDatabase(server ?? '');
  onTestFinished(empty);
  // With one URL it is a Redis, not a Cluster.
  const redis = connectRedis([url], stageDeps().logger, { commandTimeout: TIMEOUT }) as Redis;
  onTestFinished(() => redis.disconnect());
  await awaitRedis(redis, 60_000);
  const rateLimits = { global: { requests: LIMIT, window: WINDOW }, strict: null, public: null };
  return { redis, start: () => stageApp([probe(() => null)], { redis, rateLimits }) };
};

/** The time of Redis in milliseconds. */
const timeOf = async (redis: Redis): Promise<number> => {
  const [seconds, microseconds] = await redis.time();
  return Number(seconds) * 1000 + Number(microseconds) / 1000;
};

/** Shifts the times of the requests counted so far. */
const moveCounted = async (redis: Redis, milliseconds: number): Promise<void> => {
  const [key = ''] = await redis.keys('tandem:limit:*');
  const moments = (await redis.zrange(key, '0', '-1')).map((moment) => Number(moment) + milliseconds);
  await redis.del(key);
  await redis.zadd(key, ...moments.flatMap((moment) => [moment, moment]));
};

describe.runIf(server !== undefined)('limits counted in Redis', () => {
  it('use a sliding window by the time of Redis: a request is admitted again one window after the first counted one', async () => {
    const { redis, start } = await setUp();
    const { http } = await start();
    for (let count = 0; count < LIMIT; count += 1) await http.get('/probe').expect(200);
    await http.get('/probe').expect(429);
    await moveCounted(redis, -WINDOW);
    await http.get('/probe').expect(200);
  });

  it.each([0, 1, 29_500, 59_000])('return the wait in whole seconds, rounded up: after %i ms', async (passed) => {
    const { redis, start } = await setUp();
    const { http } = await start();
    const secondsLeft = (oldest: number, now: number) => Math.ceil((oldest + WINDOW - now) / 1000);
    for (let count = 0; count < LIMIT; count += 1) await http.get('/probe').expect(200);
    await moveCounted(redis, -passed);
    const [key = ''] = await redis.keys('tandem:limit:*');
    const oldest = Number((await redis.zrange(key, '0', '0'))[0]);
    const before = await timeOf(redis);
    const { status, headers } = await http.get('/probe');
    const after = await timeOf(redis);
    // On a busy machine the window may have passed.
    if (after - oldest < WINDOW) expect(status).toBe(429);
    if (status === 200) return;
    expect(headers['retry-after']).toMatch(/^[1-9]\d?$/);
    expect(Number(headers['retry-after'])).toBeLessThanOrEqual(secondsLeft(oldest, before));
    expect(Number(headers['retry-after'])).toBeGreaterThanOrEqual(secondsLeft(oldest, after));
  });

  it('do not count requests in the future, after the clock of Redis was set back', async () => {
    const { redis, start } = await setUp();
    const { http } = await start();
    for (let count = 0; count < LIMIT; count += 1) await http.get('/probe').expect(200);
    await moveCounted(redis, HOUR);
    await http.get('/probe').expect(200);
  });

  it('expire in Redis', async () => {
    const { redis, start } = await setUp();
    await (await start()).http.get('/probe').expect(200);
    const [key = ''] = await redis.keys('*');
    const left = await redis.pttl(key);
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThanOrEqual(WINDOW);
  });

  it('stay counted in Redis while the event loop is blocked, which is not taken for an unavailable Redis', async () => {
    const { redis, start } = await setUp();
    const late = await start();
    const send = redis.sendCommand.bind(redis);
    const slowly = vi.spyOn(redis, 'sendCommand').mockImplementation((...given) => {
      const reply = send(...given);
      blockEventLoop(2 * TIMEOUT);
      return reply;
    });
    for (let count = 0; count < LIMIT; count += 1) await late.http.get('/probe').expect(200);
    slowly.mockRestore();
    await (await start()).http.get('/probe').expect(429);
    expect(late.logs.filter(({ msg }) => msg.startsWith('Redis is unavailable'))).toEqual([]);
  });

  const COUNT = { requests: LIMIT, window: WINDOW };
  /** Asks for each key at once, so that the requests share a turn of the event loop. */
  const askAtOnce = async (redis: Redis, keys: readonly string[]) => {
    const count = redisCount(redis);
    const sent = vi.spyOn(redis, 'sendCommand');
    const waits = await Promise.all(keys.map((key) => count(key, COUNT)));
    return { admitted: waits.map((wait) => wait === null), commands: sent.mock.calls.length };
  };
  const five = Array.from({ length: 5 }, () => 'a');

  const ODD = ['OK', null, [], [['x', null]], [[1, Number.NaN]], [[0, 0]], [[0, 2 * WINDOW]], [[2, 0]], [[1, 0, 0]]];
  it.each(ODD.map((reply) => [reply]))(
    'are not decided by a reply that is not that of the script: %j',
    async (reply) => {
      const { redis } = await setUp();
      vi.spyOn(redis, 'sendCommand').mockResolvedValue(reply);
      await expect(redisCount(redis)('a', COUNT)).rejects.toThrow('a reply that is not that of the script');
    },
  );

  it('are exact within one turn of the event loop, whose requests share a command', async () => {
    const { redis } = await setUp();
    const { admitted, commands } = await askAtOnce(redis, [...five, 'b', ...five]);
    expect(admitted).toEqual([true, true, true, false, false, true, false, false, false, false, false]);
    expect(commands).toBe(1);
    expect((await askAtOnce(redis, ['b', 'a', 'b', 'b'])).admitted).toEqual([true, false, true, false]);
  });

  it('hold when a turn has more requests than one command takes', async () => {
    const { redis } = await setUp();
    const keys = Array.from({ length: 1_000 }, (_, at) => `key ${at % 300}`);
    const { admitted, commands } = await askAtOnce(redis, keys);
    expect(admitted).toEqual(keys.map((_key, at) => at < LIMIT * 300));
    expect(commands).toBe(Math.ceil(keys.length / 256));
  });

  it('are counted with one command for each key when a proxy refuses keys of several slots', async () => {
    const { redis } = await setUp();
    const send = redis.sendCommand.bind(redis);
    vi.spyOn(redis, 'sendCommand').mockImplementation((command, ...rest) =>
      Number(command.args[1]) > 1 ? Promise.reject(new Error('CROSSSLOT Keys in request')) : send(command, ...rest),
    );
    expect((await askAtOnce(redis, ['b', ...five])).admitted).toEqual([true, true, true, true, false, false]);
  });
});

/** Seconds in which a double keeps the same number of digits after the point: up to 2^41 ms, in September 2039, and after it. */
const TIMES = { 2026: '1795000000', 2039: '2199023255', 2040: '2208988800', 2109: '4386000000' };

describe.runIf(canStartServers())('limits counted in a Redis of its own', () => {
  it.each(Object.entries(TIMES))('are exact within one command in the year %i', async (_year, seconds) => {
    // One that can be killed: a loop without an end in a script that has written cannot be stopped.
    const own = await startRedis();
    onTestFinished(own.stop);
    onTestFinished(own.kill);
    const redis = connectRedis([own.url], stageDeps().logger, { commandTimeout: 5_000 }) as Redis;
    onTestFinished(() => redis.disconnect());
    await awaitRedis(redis, 60_000);
    const define = redis.defineCommand.bind(redis);
    vi.spyOn(redis, 'defineCommand').mockImplementation((name, { lua = '', ...rest }) =>
      define(name, { ...rest, lua: lua.replace("redis.call('time')", `{ '${seconds}', '999999' }`) }),
    );
    const count = redisCount(redis);
    const asked = Array.from({ length: 256 }, () => count('a', { requests: 200, window: WINDOW }));
    const waits = await Promise.all(asked);
    expect(waits.filter((wait) => wait === null)).toHaveLength(200);
  });
});
