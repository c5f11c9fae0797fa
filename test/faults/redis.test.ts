import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { aPerson } from '../support/http/service.ts';
import { type RunningService, runService } from '../support/processes/process.ts';
import { ask, postJson, signUpAt } from '../support/processes/sessions-under-load.ts';
import { canStartServers, startRedis } from '../support/servers/of-the-tests.ts';
import type { TestServer } from '../support/servers/server.ts';
import { temporaryDirectory } from '../support/storage/temporary-directory.ts';

const LIMIT = 5;
const SECONDS = { timeout: 15_000, interval: 100 };

const FAULTS: Readonly<
  Record<string, { strike: (redis: TestServer) => Promise<void>; mend: (redis: TestServer) => Promise<void> }>
> = {
  killed: { strike: (redis) => redis.kill(), mend: (redis) => redis.restart() },
  frozen: { strike: async (redis) => redis.freeze(), mend: async (redis) => redis.thaw() },
};

const said = ({ stdout }: RunningService, message: string): number =>
  stdout.filter((line) => JSON.parse(line).msg === message).length;

const statusesOf = async (url: string, times: number): Promise<number[]> =>
  (await Promise.all(Array.from({ length: times }, () => ask(url)))).map(({ status }) => status).sort();

describe.runIf(canStartServers()).each(Object.entries(FAULTS))('while Redis is %s', (_fault, { strike, mend }) => {
  const directory = temporaryDirectory();
  let redis: TestServer;
  let service: RunningService;
  const env = () => ({
    DATABASE_URL: 'memory:',
    DATA_DIR: directory.path,
    REDIS_URL: redis.url,
    RATE_LIMIT_GLOBAL: `${LIMIT}/60`,
    RATE_LIMIT_STRICT: 'off',
    BCRYPT_COST: '4',
  });
  beforeAll(async () => {
    redis = await startRedis();
    service = await runService(env());
  });
  afterAll(async () => {
    await service.stop();
    await redis.stop();
    directory.remove();
  });

  // Proves: flood-10
  it('no request hangs or fails for it, limits are counted in the process, and it is logged once', async () => {
    await vi.waitFor(
      async () =>
        expect(await ask(`${service.url}/health/ready`)).toMatchObject({
          status: 200,
          body: { data: { status: 'ready' } },
        }),
      SECONDS,
    );
    await strike(redis);
    const statuses = await statusesOf(`${service.url}/users/me`, 4 * LIMIT);
    expect(statuses).toEqual([...Array(LIMIT).fill(401), ...Array(3 * LIMIT).fill(429)]);
    expect(said(service, 'Redis is unavailable: each instance counts rate limits for itself')).toBe(1);
  });

  // Proves: asvs-16.5.2
  it('no log-in fails for it, and failed ones are counted in the process', async () => {
    const guess = () => postJson(`${service.url}/auth/login`, { account: 'nobody', password: 'a guess' });
    const statuses = (await Promise.all(Array.from({ length: 150 }, guess))).map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([401, 429]));
    expect(statuses.filter((status) => status === 401).length).toBeGreaterThanOrEqual(50);
    expect(said(service, 'Redis is unavailable: each instance counts failed log-ins for itself')).toBe(1);
  });

  it('the service is ready, and says that it is degraded', async () => {
    expect(await ask(`${service.url}/health/ready`)).toMatchObject({
      status: 200,
      body: { data: { status: 'degraded', checks: { redis: 'down' } } },
    });
  });

  it('and when it is back, all instances share their count again', async () => {
    await mend(redis);
    const recovered = 'Redis is available again: rate limits are counted for all instances';
    await vi.waitFor(async () => {
      await ask(`${service.url}/users/me`);
      expect(said(service, recovered)).toBe(1);
    }, SECONDS);
    expect(await ask(`${service.url}/health/ready`)).toMatchObject({ body: { data: { status: 'ready' } } });
    expect(await statusesOf(`${service.url}/auth/session`, LIMIT)).toEqual(Array(LIMIT).fill(200));
    const other = await runService(env());
    try {
      await vi.waitFor(
        async () => expect((await ask(`${other.url}/health/ready`)).body).toMatchObject({ data: { status: 'ready' } }),
        SECONDS,
      );
      expect(await statusesOf(`${other.url}/auth/session`, LIMIT)).toEqual(Array(LIMIT).fill(429));
    } finally {
      await other.stop();
    }
  });
});

describe.runIf(canStartServers()).each(Object.entries(FAULTS))(
  'sessions in a Redis that is %s',
  (_fault, { strike, mend }) => {
    const directory = temporaryDirectory();
    let redis: TestServer;
    let service: RunningService;
    beforeAll(async () => {
      redis = await startRedis();
      service = await runService({
        DATABASE_URL: 'memory:',
        DATA_DIR: directory.path,
        REDIS_URL: redis.url,
        SESSION_STORE: 'redis',
      });
    });
    afterAll(async () => {
      await service.stop();
      await redis.stop();
      directory.remove();
    });

    it('cannot be refreshed, which is said soon; and no token is used up', async () => {
      const holders = await Promise.all(Array.from({ length: 5 }, () => signUpAt(service.url)));
      for (const { refresh } of holders) expect((await refresh(service.url)).status).toBe(200);
      await strike(redis);
      for (const answer of await Promise.all(holders.map(({ refresh }) => refresh(service.url)))) {
        expect(answer).toMatchObject({ status: 500, code: 'DB_QUERY_FAILED' });
      }
      expect((await ask(`${service.url}/health/ready`)).status).toBe(503);
      await mend(redis);
      for (const { refresh } of holders) {
        await vi.waitFor(async () => expect((await refresh(service.url)).status).toBe(200), SECONDS);
      }
      // What failed while Redis came back was the database's fault each time, and never the token's.
      for (const { failures } of holders) {
        expect(new Set(failures.map(({ code }) => code))).toEqual(new Set(['DB_QUERY_FAILED']));
      }
    });

    it('leaves nothing behind of a registration or a password change that failed, so that it can be repeated', async () => {
      const [ada, grace] = [aPerson(), aPerson()];
      const register = (person: ReturnType<typeof aPerson>) => postJson(`${service.url}/auth/register`, person);
      const { accessToken } = ((await register(ada)).body as { data: { accessToken: string } }).data;
      const changePassword = () =>
        ask(`${service.url}/users/me/password`, {
          method: 'PUT',
          headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${accessToken}` },
          body: JSON.stringify({ currentPassword: ada.password, newPassword: 'staple battery' }),
        });
      await strike(redis);
      expect(await register(grace)).toMatchObject({ status: 500, code: 'DB_QUERY_FAILED' });
      expect(await changePassword()).toMatchObject({ status: 500, code: 'DB_QUERY_FAILED' });
      await mend(redis);
      await vi.waitFor(async () => expect((await ask(`${service.url}/health/ready`)).status).toBe(200), SECONDS);
      expect((await register(grace)).status).toBe(201);
      expect((await changePassword()).status).toBe(200);
    });
  },
);
