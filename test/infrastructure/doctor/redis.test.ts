import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { describe, expect, it, onTestFinished } from 'vitest';
import { redis } from '../../../src/infrastructure/commands/doctor/stores.ts';
import { brief, setUpOf } from '../../support/doctor.ts';
import { canStartServers, startRedis, startRedisCluster } from '../../support/servers/of-the-tests.ts';

const examined = async (url: string) => redis(setUpOf({ REDIS_URL: url }));

const clientOf = (url: string): Redis => {
  const client = new Redis(url);
  onTestFinished(() => client.disconnect());
  return client;
};

describe.runIf(canStartServers())('the doctor asks Redis', () => {
  it('about its state, and leaves nothing there', async () => {
    const { url } = await startRedis();
    expect(brief(await examined(url))).toEqual(['ok redis.reachable']);
    expect(await clientOf(url).dbsize()).toBe(0);
  });

  it('as a user who may not ask for everything', async () => {
    const { url } = await startRedis();
    await clientOf(url).call('ACL', 'SETUSER', 'tandem', 'on', '>p', '~*', '+@all', '-info');
    const asUser = Object.assign(new URL(url), { username: 'tandem', password: 'p' }).href;
    expect(brief(await examined(asUser))).toEqual(['ok redis.reachable']);
  });

  it.each(['-time', '-evalsha', '-incr', '-set'])('as a user who may not count: %s', async (right) => {
    const { url } = await startRedis();
    await clientOf(url).call('ACL', 'SETUSER', 'tandem', 'on', '>p', '~*', '+@all', right);
    const asUser = Object.assign(new URL(url), { username: 'tandem', password: 'p' }).href;
    expect(brief(await examined(asUser))).toEqual(['ok redis.reachable', 'problem redis.rights']);
  });

  it('that is a replica', async () => {
    const { url } = await startRedis({ replicaof: '127.0.0.1 1' });
    expect(brief(await examined(url))).toContain('problem redis.read-only');
  });

  it.each([
    ['allkeys-lru', ['ok redis.reachable', 'warning redis.eviction']],
    ['volatile-ttl', ['ok redis.reachable', 'warning redis.eviction']],
    ['noeviction', ['ok redis.reachable']],
  ])('that has a limit of memory: %s', async (policy, expected) => {
    const { url } = await startRedis({ maxmemory: '100mb', 'maxmemory-policy': policy });
    expect(brief(await examined(url))).toEqual(expected);
  });

  it('that has evicted keys', async () => {
    const { url } = await startRedis({ maxmemory: '3mb', 'maxmemory-policy': 'allkeys-lru' });
    const client = clientOf(url);
    const evicted = async () => Number(/^evicted_keys:(\d+)/m.exec(await client.info('stats'))?.[1]);
    while ((await evicted()) === 0) {
      await client.mset(Object.fromEntries(Array.from({ length: 100 }, () => [randomUUID(), 'x'.repeat(1_000)])));
    }
    const found = [await examined(url)].flat();
    expect(brief(found)).toContain('problem redis.eviction');
    expect(found.find(({ id }) => id === 'redis.eviction')?.seen).toMatch(/\(allkeys-lru; [1-9]\d* so far\)/);
  });

  it('that is dead or silent, and gives up', async () => {
    const own = await startRedis();
    const { password } = new URL(own.url);
    await own.freeze();
    const silent = await examined(own.url);
    own.thaw();
    await own.kill();
    const dead = await examined(own.url);
    expect([silent, dead].map(brief)).toEqual([['warning redis.unreachable'], ['warning redis.unreachable']]);
    expect(JSON.stringify([silent, dead])).not.toContain(password);
  });

  it('of a cluster: all its masters, found by one of them, and whether every slot is served', async () => {
    const cluster = await startRedisCluster();
    const url = cluster.shards[0]?.master.url ?? '';
    const each = cluster.shards.flatMap(() => ['ok redis.reachable']);
    expect(brief(await examined(url))).toEqual(each);
    const admin = clientOf(url);
    await admin.cluster('DELSLOTS', 0);
    await expect.poll(async () => String(await admin.cluster('INFO'))).toContain('cluster_state:fail');
    expect(brief(await examined(url))).toEqual([...each, 'problem redis.read-only']);
  });
});

it('the doctor notes that there is no Redis', async () => {
  expect(brief(await redis(setUpOf({})))).toEqual(['note redis.none']);
});
