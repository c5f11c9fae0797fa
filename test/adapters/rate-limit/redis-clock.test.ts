import type { Redis } from 'ioredis';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { awaitRedis, connectRedis } from '../../../src/infrastructure/redis/connect.ts';
import { probe, stageApp, stageDeps } from '../../support/http/stage-app.ts';
import { blockEventLoop } from '../../support/processes/block-event-loop.ts';
import { redisOfTheTests } from '../../support/servers/of-the-tests.ts';
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
  await awaitRedis(redis, 10_000);
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

  // Proves: flood-9
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
});
