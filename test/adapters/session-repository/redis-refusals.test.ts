import { Redis } from 'ioredis';
import { describe, expect, it, onTestFinished } from 'vitest';
import { redisSessionRepository } from '../../../src/adapters/session-repository/redis.ts';
import { NotExecutedError } from '../../../src/adapters/session-repository/rotation-recovery/not-executed.ts';
import { aRotation, aSession } from '../../support/builders.ts';
import { canStartServers, startRedis } from '../../support/servers/of-the-tests.ts';

const OFFLINE = "Error (Stream isn't writeable and enableOfflineQueue options is false)";

describe.runIf(canStartServers())('a rotation that Redis refused', () => {
  const stored = async () => {
    const server = await startRedis();
    onTestFinished(server.stop);
    const redis = new Redis(server.url, { enableOfflineQueue: false, lazyConnect: true });
    redis.on('error', () => undefined);
    onTestFinished(() => redis.disconnect());
    await redis.connect();
    const [repository, session] = [redisSessionRepository(redis), aSession()];
    await repository.add(session);
    return { server, redis, repository, session };
  };

  it.each([
    ['has too few replicas', 'NOREPLICAS', (redis: Redis) => redis.config('SET', 'min-replicas-to-write', '1')],
    ['is a replica', 'READONLY', (redis: Redis) => redis.replicaof('127.0.0.1', 1)],
    ['has no memory left', 'OOM', (redis: Redis) => redis.config('SET', 'maxmemory', '1')],
  ])('has certainly not happened: Redis %s', async (_which, code, strike) => {
    const { redis, repository, session } = await stored();
    await strike(redis);
    const refusal = await repository.rotate(aRotation(session)).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(NotExecutedError);
    expect(refusal).toMatchObject({ code: 'DB_QUERY_FAILED', reason: `ReplyError ${code}` });
    expect(await repository.find(session)).toStrictEqual(session);
  });

  it('has certainly not happened: the connection is lost, and the time of Redis known', async () => {
    const { server, redis, repository, session } = await stored();
    expect(await repository.rotate(aRotation(session, { from: 'another' }))).toBe('stale');
    const closed = new Promise((resolve) => redis.once('close', resolve));
    await server.kill();
    await closed;
    const refusal = await repository.rotate(aRotation(session)).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(NotExecutedError);
    expect(refusal).toMatchObject({ code: 'DB_QUERY_FAILED', reason: OFFLINE });
  });

  it('has certainly not happened: the time of Redis could not be read', async () => {
    const { server, redis, repository, session } = await stored();
    redis.options.commandTimeout = 50;
    await server.freeze();
    const refusal = await repository.rotate(aRotation(session)).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(NotExecutedError);
    expect(refusal).toMatchObject({ code: 'DB_QUERY_FAILED', reason: 'Error (Command timed out)' });
  });
});
