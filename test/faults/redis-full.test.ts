import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aPerson } from '../support/http/service.ts';
import { type RunningService, runInMemory } from '../support/processes/process.ts';
import { ask, postJson } from '../support/processes/sessions-under-load.ts';
import { freePort } from '../support/servers/free-port.ts';
import { canStartServers, startRedis } from '../support/servers/of-the-tests.ts';
import type { TestServer } from '../support/servers/server.ts';

describe.runIf(canStartServers())('a service whose Redis is full, and evicts nothing', () => {
  let redis: TestServer;
  let admin: Redis;
  let service: RunningService;
  let metricsUrl: string;
  beforeAll(async () => {
    redis = await startRedis({ 'maxmemory-policy': 'noeviction' });
    admin = new Redis(redis.url);
    const port = await freePort();
    metricsUrl = `http://127.0.0.1:${port}/metrics`;
    service = await runInMemory({
      REDIS_URL: redis.url,
      METRICS: String(port),
      BCRYPT_COST: '4',
    });
    await admin.config('SET', 'maxmemory', '1');
    await expect(admin.set('key', 'value')).rejects.toThrow('OOM');
  });
  afterAll(async () => {
    admin.disconnect();
  });

  const metrics = async () => (await fetch(metricsUrl)).text();

  it('counts for itself, and says that it is degraded', async () => {
    const { username, password } = aPerson();
    for (let time = 0; time < 2; time += 1)
      expect(await postJson(`${service.url}/auth/login`, { account: username, password })).toMatchObject({
        status: 401,
      });
    expect(await admin.keys('tandem:*')).toEqual([]);
    const text = await metrics();
    expect(text).toMatch(/^tandem_redis_fallbacks_total [1-9]/m);
    expect(text).toContain('tandem_redis_up 0');
    expect((await ask(`${service.url}/health/ready`)).body).toMatchObject({ data: { status: 'degraded' } });
  });
});
