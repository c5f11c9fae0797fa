import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createLogger } from '../../src/infrastructure/logging/logger.ts';
import { awaitRedis, connectRedis } from '../../src/infrastructure/redis/connect.ts';
import { blockEventLoop } from '../support/processes/block-event-loop.ts';
import { canStartServers, redisOfTheTests, startRedis } from '../support/servers/of-the-tests.ts';
import { takeRedisDatabase } from '../support/storage/redis-databases.ts';

const logger = createLogger({ level: 'silent', environment: 'test', version: 'test' }, () => ({}));
const TIMEOUT = 250;
const LATE = 600;
/** Only catches a hang. */
const CONNECTING = 10_000;

const connect = async (url: string) => {
  const redis = connectRedis([url], logger, { commandTimeout: TIMEOUT });
  onTestFinished(() => redis.disconnect());
  await awaitRedis(redis, CONNECTING);
  return redis;
};

const server = redisOfTheTests();
describe.runIf(server !== undefined)('a Redis that answers while this process is late', () => {
  const connectToOne = async () => {
    const { url, empty } = await takeRedisDatabase(server ?? '');
    onTestFinished(empty);
    return connect(url);
  };

  it('has answered: the reply that lies in the socket counts', async () => {
    const redis = await connectToOne();
    const reply = redis.ping();
    blockEventLoop(LATE);
    await expect(reply).resolves.toBe('PONG');
  });

  // Proves: flood-9
  it('has answered however often and long the process is late', async () => {
    const redis = await connectToOne();
    for (let time = 0; time < 3; time += 1) {
      const replies = Promise.all(Array.from({ length: 100 }, () => redis.incr('count')));
      blockEventLoop(LATE);
      await nextTurn();
      blockEventLoop(LATE);
      await expect(replies).resolves.toHaveLength(100);
    }
  });

  it('is connected to, though the process was late meanwhile', async () => {
    const { url, empty } = await takeRedisDatabase(server ?? '');
    onTestFinished(empty);
    const redis = connectRedis([url], logger, { commandTimeout: TIMEOUT });
    onTestFinished(() => redis.disconnect());
    redis.once('connect', () => blockEventLoop(LATE));
    let broken = 0;
    redis.on('close', () => {
      broken += 1;
    });
    await awaitRedis(redis, CONNECTING);
    expect([redis.status, broken]).toEqual(['ready', 0]);
  });
});

describe.runIf(canStartServers())('a Redis that stands still', () => {
  // Proves: flood-10
  it('is given up, also by a process that is late', async () => {
    const standing = await startRedis();
    onTestFinished(standing.stop);
    const redis = await connect(standing.url);
    await standing.freeze();
    await expect(redis.ping()).rejects.toThrow('Command timed out');
    const ping = redis.ping();
    blockEventLoop(LATE);
    await expect(ping).rejects.toThrow('Command timed out');
    standing.thaw();
    await expect.poll(() => redis.ping()).toBe('PONG');
  });
});
