import { Redis } from 'ioredis';
import { describe, expect, it, onTestFinished } from 'vitest';
import { askRedis } from '../../../src/infrastructure/doctor/probes/redis.ts';
import { examined as examinedGroup } from '../../support/doctor.ts';
import { canStartServers, startRedis, startRedisCluster } from '../../support/servers/of-the-tests.ts';

const examined = (url: string) => examinedGroup('redis', { DATABASE_URL: 'memory:', REDIS_URL: url });

const start = async (settings: Readonly<Record<string, string>> = {}) => {
  const redis = await startRedis(settings);
  onTestFinished(redis.stop);
  return redis;
};

describe.runIf(canStartServers())('the doctor asks Redis', () => {
  it('about its settings, and writes nothing', async () => {
    const { url } = await start();
    const { port } = new URL(url);
    expect(await askRedis([url])).toEqual([
      {
        address: `127.0.0.1:${port}`,
        version: expect.stringMatching(/^\d+\.\d+/),
        isReplica: false,
        clusterState: null,
        clock: { ahead: expect.any(Number), uncertainty: expect.any(Number) },
      },
    ]);
    const redis = new Redis(url);
    onTestFinished(() => redis.disconnect());
    expect(await redis.dbsize()).toBe(0);
  });

  it('as a user who may not ask for everything', async () => {
    const { url } = await start();
    const admin = new Redis(url);
    await admin.call('ACL', 'SETUSER', 'tandem', 'on', '>p', '~*', '+@all', '-config', '-time');
    admin.disconnect();
    const asUser = Object.assign(new URL(url), { username: 'tandem', password: 'p' }).href;
    const findings = await examined(asUser);
    expect(findings.map(({ id, severity }) => [id, severity])).toEqual([['redis.reachable', 'ok']]);
  });

  it('that is a replica', async () => {
    const { url } = await start({ replicaof: '127.0.0.1 1' });
    expect((await examined(url)).map(({ id }) => id)).toContain('redis.replica');
  });

  it('that is dead or silent, and gives up', async () => {
    const own = await start();
    const { password } = new URL(own.url);
    await own.freeze();
    const silent = await examined(own.url);
    own.thaw();
    await own.kill();
    const dead = await examined(own.url);
    for (const findings of [silent, dead])
      expect(findings.map(({ id, severity }) => [id, severity])).toEqual([['redis.unreachable', 'warning']]);
    expect(JSON.stringify([silent, dead])).not.toContain(password);
  });

  it('of a cluster: all its masters, found by one of them', async () => {
    const cluster = await startRedisCluster();
    onTestFinished(cluster.stop);
    const [first] = cluster.shards;
    const facts = await askRedis([first?.master.url ?? '']);
    expect(facts.map(({ address }) => address).sort()).toEqual(
      cluster.shards.map(({ master }) => `127.0.0.1:${new URL(master.url).port}`).sort(),
    );
    for (const node of facts) expect(node).toMatchObject({ clusterState: 'ok', isReplica: false });
  });
});
