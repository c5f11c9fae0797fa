// Proves flood-1
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { testKeys } from '../support/keys.ts';
import { keyVariables } from '../support/processes/environments.ts';
import { canShare } from '../support/processes/instances.ts';
import { type RunningService, runService } from '../support/processes/process.ts';
import { ask } from '../support/processes/sessions-under-load.ts';
import { whileShared } from '../support/processes/while-shared.ts';
import { canStartServers, postgresOfTheTests, startRedisCluster } from '../support/servers/of-the-tests.ts';
import { createDatabase } from '../support/storage/databases.ts';

const LIMIT = 20;
/** Only catch a state that never comes. */
const PATIENCE = { timeout: 60_000, interval: 20 };

describe.runIf(canShare() && canStartServers())('two instances over a Redis Cluster', () => {
  const services: RunningService[] = [];
  /** The first has the URLs of all masters, the second that of one. */
  beforeAll(async () => {
    const cluster = await startRedisCluster();
    const { url } = await createDatabase(postgresOfTheTests() ?? '');
    const masters = cluster.shards.map(({ master }) => master.url.replace(/\/0$/, ''));
    const keys = keyVariables(testKeys());
    for (const urls of [masters, masters.slice(0, 1)]) {
      const service = await runService({
        ...keys,
        DATABASE_URL: url,
        REDIS_URL: urls.join(','),
        TRUST_PROXY: '1',
        // A window that does not end during the test.
        RATE_LIMITS: `global=off,strict=${LIMIT}/3600,public=off`,
      });
      services.push(service);
    }
  });

  it('are ready, whether they have the URLs of several nodes or of one', async () => {
    for (const { url } of services) {
      await vi.waitFor(async () => {
        expect(await ask(`${url}/health/ready`)).toMatchObject({ status: 200, body: { data: { status: 'ready' } } });
      }, PATIENCE);
    }
  });

  it('admit together what one of them would', async () => {
    const statuses = await whileShared(services, async (attempt) => {
      const headers = { 'Content-Type': 'application/json', 'X-Forwarded-For': `192.0.2.${attempt}` };
      const logIn = (_none: unknown, index: number) =>
        ask(`${services[index % 2]?.url}/auth/login`, { method: 'POST', headers, body: '{}' });
      return (await Promise.all(Array.from({ length: 3 * LIMIT }, logIn))).map(({ status }) => status);
    });
    expect(statuses.sort()).toEqual([...Array(LIMIT).fill(400), ...Array(2 * LIMIT).fill(429)]);
  });
});
