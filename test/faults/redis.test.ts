// Proves ASVS 16.5.2; flood-10
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { type RunningService, runInMemory } from '../support/processes/process.ts';
import { ask, postJson } from '../support/processes/sessions-under-load.ts';
import { untilReady, whileShared } from '../support/processes/while-shared.ts';
import { canStartServers, startRedis } from '../support/servers/of-the-tests.ts';
import type { TestServer } from '../support/servers/server.ts';
import { temporaryDirectory } from '../support/storage/temporary-directory.ts';

const LIMIT = 5;
const AWAY = 'Redis is unavailable: each process counts requests and failed log-ins for itself';
const BACK = 'Redis is available again: requests and failed log-ins are counted for all instances';
/** Milliseconds; the time-out only catches hangs. */
const RECOVERY = { timeout: 60_000, interval: 100 };

const FAULTS: Readonly<
  Record<string, { strike: (redis: TestServer) => Promise<void>; mend: (redis: TestServer) => Promise<void> }>
> = {
  killed: { strike: (redis) => redis.kill(), mend: (redis) => redis.restart() },
  frozen: { strike: async (redis) => redis.freeze(), mend: async (redis) => redis.thaw() },
};

const timesLogged = ({ stdout }: RunningService, message: string): number =>
  stdout.filter((line) => JSON.parse(line).msg === message).length;

/** The statuses of that many requests at once, of one client. */
const statusesOf = async (url: string, times: number, client = '192.0.2.1'): Promise<number[]> => {
  const headers = { 'X-Forwarded-For': client };
  return (await Promise.all(Array.from({ length: times }, () => ask(url, { headers }))))
    .map(({ status }) => status)
    .sort();
};

describe.runIf(canStartServers()).each(Object.entries(FAULTS))('while Redis is %s', (_fault, { strike, mend }) => {
  const directory = temporaryDirectory();
  let redis: TestServer;
  let service: RunningService;
  const env = () => ({
    DATA_DIR: directory.path,
    REDIS_URL: redis.url,
    // A window that does not end during the test.
    RATE_LIMITS: `global=${LIMIT}/3600,strict=off,public=off`,
    TRUST_PROXY: '1',
    BCRYPT_COST: '4',
  });
  beforeAll(async () => {
    redis = await startRedis();
    service = await runInMemory(env());
  });

  it('no request hangs or fails because of it, limits are counted in the process, and it is logged once', async () => {
    await untilReady(service);
    await strike(redis);
    const statuses = await statusesOf(`${service.url}/users/me`, 4 * LIMIT);
    expect(statuses).toEqual([...Array(LIMIT).fill(401), ...Array(3 * LIMIT).fill(429)]);
    // Before that, a Redis that got no processor time may have been away for a moment.
    await vi.waitFor(() => expect(timesLogged(service, AWAY)).toBe(timesLogged(service, BACK) + 1), RECOVERY);
  });

  it('no log-in fails because of it, and failed ones are counted in the process', async () => {
    const guess = () => postJson(`${service.url}/auth/login`, { account: 'nobody', password: 'a guess' });
    const statuses = (await Promise.all(Array.from({ length: 150 }, guess))).map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([401, 429]));
    expect(statuses.filter((status) => status === 401).length).toBeGreaterThanOrEqual(50);
  });

  it('the service is ready, and reports that it is degraded', async () => {
    expect(await ask(`${service.url}/health/ready`)).toMatchObject({
      status: 200,
      body: { data: { status: 'degraded', checks: { redis: 'down' } } },
    });
  });

  it('all instances share their counts again when it is back', async () => {
    const before = timesLogged(service, BACK);
    await mend(redis);
    await vi.waitFor(async () => {
      await ask(`${service.url}/users/me`);
      expect(timesLogged(service, BACK)).toBeGreaterThan(before);
    }, RECOVERY);
    const other = await runInMemory(env());
    const statuses = await whileShared([service, other], async (attempt) => {
      const count = ({ url }: RunningService) => statusesOf(`${url}/auth/session`, LIMIT, `198.51.100.${attempt}`);
      return [await count(service), await count(other)];
    });
    expect(statuses).toEqual([Array(LIMIT).fill(200), Array(LIMIT).fill(429)]);
  });
});
