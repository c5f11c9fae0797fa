import { Redis } from 'ioredis';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { takeRedisDatabase } from '../../support/redis-databases.ts';
import { redisOfTheTests } from '../../support/servers/of-the-tests.ts';
import { startService } from '../../support/service.ts';

const server = redisOfTheTests();
const HOUR = 3_600_000;

describe.runIf(server !== undefined)('limits shared with an instance whose clock is an hour ahead', () => {
  it('keep nobody away for longer than a window', async () => {
    const { url, empty } = await takeRedisDatabase(server ?? '');
    onTestFinished(empty);
    const service = await startService({ DATABASE_URL: 'memory:', REDIS_URL: url, RATE_LIMIT_GLOBAL: '2/60' });
    onTestFinished(service.close);
    await vi.waitFor(async () => {
      const { body } = await service.http.get('/health/ready');
      expect(body.data.checks).toEqual({ redis: 'up' });
    });
    // What koa-ratelimit writes for two requests: a sorted set of the moments at which they came.
    const redis = new Redis(url);
    onTestFinished(() => redis.disconnect());
    await service.http.get('/auth/session').expect(200);
    const [key = ''] = await redis.keys('*session*');
    const ahead = Date.now() + HOUR;
    await redis.zadd(key, ahead, ahead, ahead + 1, ahead + 1);
    await redis.zrem(key, ...(await redis.zrangebyscore(key, 0, Date.now())));
    const { headers } = await service.http.get('/auth/session').expect(429);
    expect(Number(headers['retry-after'])).toBeLessThanOrEqual(60);
  });
});
