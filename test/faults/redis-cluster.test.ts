import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { redisSessionRepository } from '../../src/adapters/session-repository/redis.ts';
import { createLogger } from '../../src/infrastructure/logging/logger.ts';
import { openRedis, type RedisClient } from '../../src/infrastructure/redis.ts';
import { absent } from '../contracts/hooks.ts';
import { describeSessionRepository } from '../contracts/session-repository.contract.ts';
import { testKeys } from '../support/keys.ts';
import { keyVariables } from '../support/processes/environments.ts';
import { canShare } from '../support/processes/instances.ts';
import { type RunningService, runService } from '../support/processes/process.ts';
import { ask, type Holder, refreshAllAt, signUpAt } from '../support/processes/sessions-under-load.ts';
import { whileShared } from '../support/processes/while-shared.ts';
import { AMPLE_BUDGET } from '../support/rotation/ample-budget.ts';
import { canStartServers, postgresOfTheTests, startRedisCluster } from '../support/servers/of-the-tests.ts';
import type { RedisCluster, Shard } from '../support/servers/redis-cluster.ts';
import { createDatabase } from '../support/storage/databases.ts';

const logger = createLogger({ level: 'silent', environment: 'test', version: 'test' }, () => ({}));
const LIMIT = 20;
const HOLDERS_PER_SHARD = 2;
/** Only catch a state that never comes. */
const PATIENCE = { timeout: 60_000, interval: 20 };

const ENVIRONMENT = {
  ...keyVariables(testKeys()),
  SESSION_STORE: 'redis',
  BCRYPT_COST: '4',
  RATE_LIMIT_STRICT: 'off',
  RATE_LIMIT_GLOBAL: 'off',
  RATE_LIMIT_PUBLIC: 'off',
};

const mastersOf = ({ shards }: RedisCluster): string[] => shards.map(({ master }) => master.url.replace(/\/0$/, ''));

/** A cluster and two instances over it: the first has the URLs of all masters, the second that of one. */
const instancesOverCluster = (env: Readonly<Record<string, string>> = {}) => {
  let cluster: RedisCluster;
  const services: RunningService[] = [];
  const cleanups: (() => Promise<unknown>)[] = [];
  beforeAll(async () => {
    cluster = await startRedisCluster();
    cleanups.push(cluster.stop);
    const { url, drop } = await createDatabase(postgresOfTheTests() ?? '');
    cleanups.push(drop);
    const masters = mastersOf(cluster);
    for (const urls of [masters, masters.slice(0, 1)]) {
      const parts = { DATABASE_URL: url, REDIS_URL: urls.join(',') };
      const service = await runService({ ...ENVIRONMENT, ...parts, ...env });
      cleanups.push(() => service.stop('SIGKILL'));
      services.push(service);
    }
  });
  afterAll(async () => {
    for (const clean of cleanups.toReversed()) await clean();
  });
  return {
    cluster: () => cluster,
    instances: () => services,
    urls: () => services.map(({ url }) => url),
    urlAt: (number: number): string => services[number % services.length]?.url ?? expect.unreachable(),
  };
};

const READY = { status: 200, body: { data: { status: 'ready' } } };
const NOT_READY = { status: 503, body: { message: 'Not ready; down: sessions, redis.' } };

/** Waits until an instance says so, and then asks so often that each master would have been asked by chance. */
const expectReadiness = async (urls: readonly string[], readiness: object): Promise<void> => {
  for (const url of urls) {
    const probe = () => ask(`${url}/health/ready`);
    await vi.waitFor(async () => expect(await probe()).toMatchObject(readiness), PATIENCE);
    for (const answer of await Promise.all(Array.from({ length: 20 }, probe))) expect(answer).toMatchObject(readiness);
  }
};

describe.runIf(canShare() && canStartServers())('two instances over a Redis Cluster', () => {
  const { cluster, instances, urls, urlAt } = instancesOverCluster({
    // A window that does not end during the test.
    RATE_LIMIT_STRICT: `${LIMIT}/3600`,
    TRUST_PROXY: '1',
  });

  it('are ready, whether they have the URLs of several nodes or of one', () => expectReadiness(urls(), READY));

  it('refresh what the other has issued, wherever the session is stored', async () => {
    // So many that each master has some of them.
    const holders = await Promise.all(Array.from({ length: LIMIT }, () => signUpAt(urlAt(0))));
    for (const { refresh } of holders) {
      for (const at of [1, 0, 1]) expect((await refresh(urlAt(at))).status).toBe(200);
    }
  });

  describeSessionRepository('redisSessionRepository over a Redis Cluster', async () => {
    const clients: RedisClient[] = [];
    const connect = async () => {
      const redis = await openRedis(mastersOf(cluster()), logger);
      clients.push(redis);
      return redisSessionRepository(redis, { budget: AMPLE_BUDGET });
    };
    return {
      repository: await connect(),
      another: connect,
      failing: absent('an unavailable Redis: test/adapters/session-repository'),
      delayed: absent('a delayed Redis: test/adapters/session-repository'),
      deleteUser: absent('the store knows no users'),
      expires: true,
      close: async () => {
        for (const client of clients) client.disconnect();
      },
    };
  });

  // Proves: flood-1
  it('admit together what one of them would', async () => {
    const statuses = await whileShared(instances(), async (attempt) => {
      const headers = { 'Content-Type': 'application/json', 'X-Forwarded-For': `192.0.2.${attempt}` };
      const logIn = (_none: unknown, index: number) =>
        ask(`${urlAt(index)}/auth/login`, { method: 'POST', headers, body: '{}' });
      return (await Promise.all(Array.from({ length: 3 * LIMIT }, logIn))).map(({ status }) => status);
    });
    expect(statuses.sort()).toEqual([...Array(LIMIT).fill(400), ...Array(2 * LIMIT).fill(429)]);
  });
});

describe.runIf(canShare() && canStartServers())('two instances over a Redis Cluster that is resharded', () => {
  const { cluster, urls, urlAt } = instancesOverCluster();

  it('refresh, register and are ready while the slot of a session is moved to another master', async () => {
    const { userId, refresh, failures } = await signUpAt(urlAt(0));
    const key = `tandem:sessions:${userId}`;
    const from = await cluster().shardOf(key);
    const masterOf = (shard: number) => cluster().shards[shard % 3]?.master ?? expect.unreachable();
    const [source, target] = [masterOf(from), masterOf(from + 1)];
    const slot = Number(await source.redis.cluster('KEYSLOT', key));
    const { port, password } = new URL(target.url);
    const steps = [
      () => target.redis.call('CLUSTER', 'SETSLOT', slot, 'IMPORTING', source.id),
      () => source.redis.call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', target.id),
      () => source.redis.call('MIGRATE', '127.0.0.1', port, key, 0, 5_000, 'AUTH', password),
      () => target.redis.call('CLUSTER', 'SETSLOT', slot, 'NODE', target.id),
      () => source.redis.call('CLUSTER', 'SETSLOT', slot, 'NODE', target.id),
    ];
    for (const step of steps) {
      await step();
      for (const at of [0, 1, 0, 1]) await refresh(urlAt(at));
      await signUpAt(urlAt(0));
    }
    expect(failures).toEqual([]);
    await expectReadiness(urls(), READY);
    expect(await target.redis.exists(key)).toBe(1);
  });
});

type Fault = { readonly strike: (shard: Shard) => Promise<void>; readonly mend: (shard: Shard) => Promise<void> };

const FAULTS: Readonly<Record<string, Fault>> = {
  killed: { strike: ({ master }) => master.kill(), mend: ({ master }) => master.restart() },
  frozen: { strike: ({ master }) => master.freeze(), mend: async ({ master }) => master.thaw() },
};

describe.runIf(canShare() && canStartServers()).each(Object.entries(FAULTS))(
  'two instances over a Redis Cluster, one of whose masters is %s',
  (_fault, { strike, mend }) => {
    const { cluster, urls, urlAt } = instancesOverCluster();
    type Placed = Holder & { readonly shard: number; readonly url: string };
    const placed: Placed[] = [];
    const STRUCK = 1;
    const onStruck = () => placed.filter(({ shard }) => shard === STRUCK);
    const holdersAt = (url: string) => placed.filter((holder) => holder.url === url);
    const onOthers = () => placed.filter(({ shard }) => shard !== STRUCK);

    /** Signs users up until each master has the sessions of some users of each instance. */
    beforeAll(async () => {
      for (const url of urls()) {
        const counts = cluster().shards.map(() => 0);
        while (counts.some((count) => count < HOLDERS_PER_SHARD)) {
          const holder = await signUpAt(url);
          const shard = await cluster().shardOf(`tandem:sessions:${holder.userId}`);
          counts[shard] = (counts[shard] ?? 0) + 1;
          if ((counts[shard] ?? 0) <= HOLDERS_PER_SHARD) placed.push({ ...holder, shard, url });
        }
      }
    });

    /** Resolves when each of them has refreshed so many times more. */
    const refreshed = async (holders: readonly Placed[], times: number): Promise<void> => {
      const before = holders.map(({ refreshes }) => refreshes());
      await vi.waitFor(() => {
        for (const [at, { refreshes }] of holders.entries()) {
          expect(refreshes() - (before[at] ?? 0)).toBeGreaterThanOrEqual(times);
        }
      }, PATIENCE);
    };

    // Proves: flood-10
    it('fail for the users of that master alone and until its replica is elected, and log nobody out', async () => {
      const shard = cluster().shards[STRUCK] ?? expect.unreachable();
      await expectReadiness(urls(), READY);
      const loops = urls().map((url) => refreshAllAt(url, holdersAt(url)));
      const stop = () => Promise.all(loops.map((stopLoop) => stopLoop()));
      onTestFinished(async () => void (await stop()));
      await refreshed(placed, 3);

      await cluster().withhold(shard);
      await cluster().settle(shard);
      await strike(shard);
      await cluster().failed(shard.master);
      await vi.waitFor(() => {
        for (const { failures } of onStruck()) expect(failures).not.toEqual([]);
      }, PATIENCE);
      await expectReadiness(urls(), NOT_READY);
      await refreshed(onOthers(), 3);

      await cluster().elect(shard);
      await refreshed(placed, 1);
      await expectReadiness(urls(), READY);
      const failures = () => onStruck().map((holder) => holder.failures.length);
      const untilElected = failures();
      await refreshed(placed, 5);
      expect(failures()).toEqual(untilElected);

      await mend(shard);
      await cluster().whole();
      await refreshed(placed, 3);
      await stop();
      await expectReadiness(urls(), READY);

      for (const holder of placed) {
        for (const at of [1, 0]) expect((await holder.refresh(urlAt(at))).status).toBe(200);
      }
      for (const holder of onOthers()) expect(holder.failures).toEqual([]);
      expect(new Set(onStruck().flatMap((holder) => holder.failures.map(({ code }) => code)))).toEqual(
        new Set(['DB_QUERY_FAILED']),
      );
    });
  },
);
