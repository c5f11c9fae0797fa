import { Cluster, Redis } from 'ioredis';
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { awaitRedis, connectRedis } from '../../src/adapters/redis/connect.ts';
import { openOptionalRedis, openRedis } from '../../src/adapters/redis/open.ts';
import { pingRedis } from '../../src/infrastructure/compose/redis-check.ts';
import { runAtEnd } from '../support/closing.ts';
import { freePort } from '../support/servers/free-port.ts';
import { canStartServers, startRedis } from '../support/servers/of-the-tests.ts';
import { silentLogger as logger } from '../support/silent-logger.ts';

const CONNECTING = 60_000;

/** A cluster of one node, and a connection to it for the test's own commands. */
const startClusterOfOne = async () => {
  const server = await startRedis({
    'cluster-enabled': 'yes',
    'cluster-port': String(await freePort()),
    // Other nodes would send it its address.
    'cluster-announce-ip': '127.0.0.1',
  });
  const node = new Redis(server.url);
  await node.cluster('ADDSLOTSRANGE', 0, 16_383);
  await vi.waitFor(async () => expect(await node.cluster('INFO')).toContain('cluster_state:ok'), CONNECTING);
  runAtEnd(() => node.disconnect());
  return { url: server.url, node, server };
};

const closedAfterTest = <Client extends Redis | Cluster>(redis: Client): Client => {
  onTestFinished(() => redis.disconnect());
  return redis;
};

describe.runIf(canStartServers())('the URL of one node of a cluster', () => {
  let url: string;
  beforeAll(async () => {
    ({ url } = await startClusterOfOne());
  });

  it.each([
    ['required', openRedis],
    ['optional', openOptionalRedis],
  ])('connects to the cluster when Redis is %s', async (_use, open) => {
    const redis = closedAfterTest(await open([url], logger));
    expect(redis).toBeInstanceOf(Cluster);
    await pingRedis(redis);
    expect(await redis.set('key', 'value')).toBe('OK');
  });

  it.each([
    ['required', openRedis],
    ['optional', openOptionalRedis],
  ])('is refused with a database number when Redis is %s', async (_use, open) => {
    await expect(open([url.replace(/0$/, '1')], logger)).rejects.toThrow(
      'The Redis of REDIS_URL is a cluster, where only database 0 is used: remove the number from the URL',
    );
  });

  it('is not up when it was taken for a single server', async () => {
    const redis = closedAfterTest(connectRedis([url], logger));
    await awaitRedis(redis, CONNECTING);
    await expect(pingRedis(redis)).rejects.toThrow('connected to one node of a cluster');
  });

  it('is not up after it was closed', async () => {
    const redis = await openRedis([url], logger);
    redis.disconnect();
    await expect(pingRedis(redis)).rejects.toThrow('not connected to the cluster');
  });
});

describe.runIf(canStartServers())('a Redis Cluster', () => {
  it.each([
    ['is not assigned', ['DELSLOTS', 7]],
    ['has no master', ['RESET', 'HARD']],
  ] as const)('is not up when a slot %s', async (_which, command) => {
    const { url, node } = await startClusterOfOne();
    const redis = closedAfterTest(await openRedis([url], logger));
    await pingRedis(redis);
    await node.call('CLUSTER', ...command);
    await expect(pingRedis(redis)).rejects.toThrow('a slot is not served');
  });

  it('is not up when a master refuses writes, and is when it accepts them again', async () => {
    const { url, node } = await startClusterOfOne();
    const redis = closedAfterTest(await openRedis([url], logger));
    await node.config('SET', 'min-replicas-to-write', 1);
    await expect(pingRedis(redis)).rejects.toThrow('NOREPLICAS');
    await node.config('SET', 'min-replicas-to-write', 0);
    await pingRedis(redis);
  });

  it('is not up while a master stands still, and is when it goes on', async () => {
    const { url, server } = await startClusterOfOne();
    const redis = closedAfterTest(await openRedis([url], logger));
    await server.freeze();
    await expect(pingRedis(redis)).rejects.toThrow('Command timed out');
    server.thaw();
    await expect.poll(() => redis.set('key', 'value').catch(() => 'failed')).toBe('OK');
  });
});

it.runIf(canStartServers())('a Redis that does not permit INFO is used as a single server', async () => {
  vi.spyOn(console, 'warn').mockImplementation(() => undefined);
  const server = await startRedis();
  const admin = closedAfterTest(new Redis(server.url));
  await admin.call('ACL', 'SETUSER', 'limited', 'on', '>secret', '~*', '+@all', '-info');
  const { host } = new URL(server.url);
  const redis = closedAfterTest(await openRedis([`redis://limited:secret@${host}`], logger));
  expect(redis).toBeInstanceOf(Redis);
  await pingRedis(redis);
});
