import { beforeAll, describe, expect, it } from 'vitest';
import { type RunningService, runInMemory } from '../support/processes/process.ts';
import { ask } from '../support/processes/sessions-under-load.ts';
import { untilReady, whileShared } from '../support/processes/while-shared.ts';
import { canStartServers, startRedisSentinels } from '../support/servers/of-the-tests.ts';
import type { RedisSentinels } from '../support/servers/redis-sentinel.ts';
import { temporaryDirectory } from '../support/storage/temporary-directory.ts';

const LIMIT = 20;

describe.runIf(canStartServers())('two instances over a Redis with sentinels', () => {
  const directory = temporaryDirectory();
  const services: RunningService[] = [];
  let redis: RedisSentinels;
  beforeAll(async () => {
    redis = await startRedisSentinels();
    for (let instance = 0; instance < 2; instance += 1) {
      services.push(
        await runInMemory({
          DATA_DIR: directory.path,
          REDIS_URL: redis.url,
          NODE_EXTRA_CA_CERTS: redis.certificate,
          TRUST_PROXY: '1',
          // A window that does not end during the test.
          RATE_LIMITS: `global=off,strict=${LIMIT}/3600,public=off`,
        }),
      );
    }
  });

  let network = 0;
  /** The statuses of log-ins of one client, who is another one each time, at both instances. */
  const logInsWhileShared = () =>
    whileShared(services, async () => {
      network += 1;
      const headers = { 'Content-Type': 'application/json', 'X-Forwarded-For': `192.0.2.${network}` };
      const logIn = (_none: unknown, index: number) =>
        ask(`${services[index % 2]?.url}/auth/login`, { method: 'POST', headers, body: '{}' });
      const answers = await Promise.all(Array.from({ length: 3 * LIMIT }, logIn));
      return answers.map(({ status }) => status).sort();
    });
  const SHARED = [...Array(LIMIT).fill(400), ...Array(2 * LIMIT).fill(429)];

  it('admit together what one of them would, over TLS and with the passwords of Redis and of the sentinels', async () => {
    expect(await logInsWhileShared()).toEqual(SHARED);
  });

  it('do so again after the master and a sentinel were killed', async () => {
    await Promise.all([redis.master.kill(), redis.sentinels[0]?.kill()]);
    await Promise.all(services.map(untilReady));
    expect(await logInsWhileShared()).toEqual(SHARED);
  });
});
