// Proves flood-1
import { Redis } from 'ioredis';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { type RunningService, runInMemory } from '../support/processes/process.ts';
import { ask } from '../support/processes/sessions-under-load.ts';
import { freePort } from '../support/servers/free-port.ts';
import { canStartServers, startRedis } from '../support/servers/of-the-tests.ts';
import type { TestServer } from '../support/servers/server.ts';

const EVICTS = 'Redis evicts keys when its memory is full: counts are lost, and clients can pass their limits';
const KEEPS = 'Redis no longer evicts keys';
/** Milliseconds; only catches a hang. */
const PATIENCE = { timeout: 60_000, interval: 50 };

describe.runIf(canStartServers())('a service whose Redis has a bounded memory', () => {
  let redis: TestServer;
  let admin: Redis;
  let service: RunningService;
  let metricsPort: number;
  beforeAll(async () => {
    redis = await startRedis({ maxmemory: '3mb', 'maxmemory-policy': 'volatile-lru' });
    admin = new Redis(redis.url, { retryStrategy: null });
    admin.on('error', () => undefined);
    metricsPort = await freePort();
    service = await runInMemory({ REDIS_URL: redis.url, METRICS: String(metricsPort) });
    return () => admin.disconnect();
  });

  const logged = (message: string) => service.stdout.filter((line) => JSON.parse(line).msg === message).length;
  const readiness = () => ask(`${service.url}/health/ready`);
  const metrics = async () => (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  const ready = (status: string, state: string) => ({
    status: 200,
    body: { data: { status, checks: { redis: state } } },
  });

  it('says so when counts can be evicted: in the log once, in its readiness and in its metrics', async () => {
    await vi.waitFor(() => expect(logged(EVICTS)).toBe(1), PATIENCE);
    expect(await readiness()).toMatchObject(ready('degraded', 'down'));
    expect(await readiness()).toMatchObject(ready('degraded', 'down'));
    const text = await metrics();
    expect(text).toContain('tandem_redis_up 0');
    expect(text).toContain('tandem_rate_limit_mode{mode="degraded"} 1');
    expect(text).toContain('tandem_ready 1');
    expect([logged(EVICTS), logged(KEEPS)]).toEqual([1, 0]);
  });

  it('is ready again when they are kept', async () => {
    await admin.config('SET', 'maxmemory-policy', 'noeviction');
    await vi.waitFor(async () => expect(await readiness()).toMatchObject(ready('ready', 'up')), PATIENCE);
    await vi.waitFor(() => expect(logged(KEEPS)).toBe(1), PATIENCE);
    await vi.waitFor(async () => {
      // A Redis that got no processor time may have been away for a moment.
      await ask(`${service.url}/auth/session`);
      expect(await metrics()).toContain('tandem_rate_limit_mode{mode="shared"} 1');
    }, PATIENCE);
    expect(await metrics()).toContain('tandem_redis_up 1');
  });
});
