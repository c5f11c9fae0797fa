import { Cluster, Redis } from 'ioredis';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { connectMasters } from '../../src/adapters/redis/cluster.ts';
import { awaitRedis, connectRedis } from '../../src/adapters/redis/connect.ts';
import { pingRedis } from '../../src/infrastructure/compose/redis-check.ts';
import { readText } from '../support/checkout/repository.ts';
import { canStartServers, startRedis, startRedisCluster } from '../support/servers/of-the-tests.ts';
import type { TestServer } from '../support/servers/server.ts';
import { silentLogger as logger } from '../support/silent-logger.ts';

const [line = '', listed = ''] =
  /^ACL SETUSER tandem on >PASSWORD (~tandem:\* (.+))$/m.exec(readText('docs/deploy.md')) ?? [];
/** What a cluster needs besides: how its slots are found, and whether each is served. */
const OF_CLUSTERS = ['+ping', '+cluster|slots', '+cluster|info'];
const RIGHTS = listed.split(' ').slice(1);
/** Not for counting: without it, nobody sees that Redis evicts. */
const TO_SEE = '+info';

describe.runIf(canStartServers())('the rights in docs/deploy.md', () => {
  let server: TestServer;
  let admin: Redis;
  beforeAll(async () => {
    server = await startRedis();
    admin = new Redis(server.url);
    return () => admin.disconnect();
  });

  const pingWith = async (rights: readonly string[]) => {
    const name = `user-${Math.random()}`;
    await admin.call('ACL', 'SETUSER', name, 'on', '>p', '~tandem:*', ...rights);
    const redis = connectRedis([Object.assign(new URL(server.url), { username: name, password: 'p' }).href], logger, {
      commandTimeout: 60_000,
    });
    onTestFinished(() => redis.disconnect());
    await awaitRedis(redis, 60_000);
    await pingRedis(redis);
  };

  it('are those of one line', () => {
    expect(line).not.toBe('');
    expect(RIGHTS).toContain(TO_SEE);
  });

  it('suffice to count', async () => {
    await pingWith(RIGHTS);
    expect(await admin.dbsize()).toBe(0);
  });

  it.each(RIGHTS.filter((right) => right !== TO_SEE))('are all needed: not without %s', async (right) => {
    await expect(pingWith(RIGHTS.filter((each) => each !== right))).rejects.toThrow('may not run a command');
  });

  it('suffice on a cluster with three more', async () => {
    expect(readText('docs/deploy.md')).toContain(`\`${OF_CLUSTERS.join(' ')}\``);
    const cluster = await startRedisCluster();
    for (const { master } of cluster.shards) {
      const client = new Redis(master.url);
      await client.call('ACL', 'SETUSER', 'tandem', 'on', '>p', '~tandem:*', ...RIGHTS, ...OF_CLUSTERS);
      client.disconnect();
    }
    const urls = cluster.shards.map(
      ({ master }) => Object.assign(new URL(master.url), { username: 'tandem', password: 'p' }).href,
    );
    const redis = connectRedis(urls, logger, { commandTimeout: 60_000 });
    onTestFinished(() => redis.disconnect());
    await awaitRedis(redis, 60_000);
    if (redis instanceof Cluster) await connectMasters(redis);
    await pingRedis(redis);
  });
});
