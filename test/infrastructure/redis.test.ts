// Proves flood-9, flood-10
import { createRequire } from 'node:module';
import { setImmediate as nextTurn } from 'node:timers/promises';
import * as ioredis from 'ioredis';
import { describe, expect, it, onTestFinished } from 'vitest';
import { reasonOf } from '../../src/adapters/log/redact-error.ts';
import { awaitRedis, connectRedis } from '../../src/adapters/redis/connect.ts';
import { pingRedis } from '../../src/infrastructure/compose/redis-check.ts';
import { createLogger } from '../../src/infrastructure/logging/log.ts';
import { blockEventLoop } from '../support/processes/block-event-loop.ts';
import { openHeldLine } from '../support/servers/held-line.ts';
import { canStartServers, redisOfTheTests, startRedis } from '../support/servers/of-the-tests.ts';
import { silentLogger as logger } from '../support/silent-logger.ts';
import { takeRedisDatabase } from '../support/storage/redis-databases.ts';

const TIMEOUT = 250;
const LATE = 600;
/** Only catches a hang. */
const CONNECTING = 60_000;

const connect = async (url: string) => {
  const redis = connectRedis([url], logger, { commandTimeout: TIMEOUT });
  onTestFinished(() => redis.disconnect());
  await awaitRedis(redis, CONNECTING);
  return redis;
};

const passwordOf = (url: string): string => new URL(url).password;

const server = redisOfTheTests();
describe.runIf(server !== undefined)('a Redis that answers while this process is late', () => {
  const connectToOne = async () => {
    return connect(await takeRedisDatabase(server ?? ''));
  };

  it('has answered: the reply that lies in the socket counts', async () => {
    const redis = await connectToOne();
    const reply = redis.ping();
    blockEventLoop(LATE);
    await expect(reply).resolves.toBe('PONG');
  });

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

  it('gets the commands of one turn of the event loop together, and answers each', async () => {
    const redis = await connectToOne();
    if (!(redis instanceof ioredis.Redis)) throw new Error('a cluster');
    const replies = [redis.set('key', 'one'), redis.get('key'), redis.ping()];
    const held = redis.stream.writableLength;
    expect(held).toBeGreaterThan(0);
    await nextTurn();
    expect(redis.stream.writableLength).toBeLessThan(held);
    await expect(Promise.all(replies)).resolves.toEqual(['OK', 'one', 'PONG']);
  });

  it('is connected to, though the process was late meanwhile', async () => {
    const redis = connectRedis([await takeRedisDatabase(server ?? '')], logger, { commandTimeout: TIMEOUT });
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
  it('is given up, also by a process that is late', async () => {
    const server = await startRedis();
    const redis = await connect(server.url);
    await server.freeze();
    await expect(redis.ping()).rejects.toThrow('Command timed out');
    const ping = redis.ping();
    blockEventLoop(LATE);
    await expect(ping).rejects.toThrow('Command timed out');
    server.thaw();
    await expect.poll(() => redis.ping()).toBe('PONG');
  });

  it('is left for the server that has its address now', async () => {
    const [server, next] = [await startRedis(), await startRedis()];
    await (await connect(next.url)).config('SET', 'requirepass', passwordOf(server.url));
    const address = await openHeldLine(server.url);
    const lines: string[] = [];
    const destination = { write: (line: string) => void lines.push(line) };
    const ours = createLogger({ level: 'warn', nodeEnv: 'production', destination });
    const redis = connectRedis([address.url], ours);
    onTestFinished(() => redis.disconnect());
    await awaitRedis(redis, CONNECTING);
    await server.freeze();
    address.leadTo(next.url);
    await expect(redis.ping()).rejects.toThrow('Command timed out');
    await expect.poll(() => redis.set('key', 'value').catch(() => 'failed'), { timeout: CONNECTING }).toBe('OK');
    expect(lines.join()).toContain('Socket timeout.');
  });

  it('is not given up by other clients of the process, which set their own time limits', async () => {
    const server = await startRedis();
    const [ours, other] = [await connect(server.url), new ioredis.Redis(server.url)];
    onTestFinished(() => other.disconnect());
    await other.ping();
    await server.freeze();
    const waiting = other.ping();
    await expect(ours.ping()).rejects.toThrow('Command timed out');
    server.thaw();
    await expect(waiting).resolves.toBe('PONG');
  });
});

describe('ioredis', () => {
  /** The sources of all members of its classes. */
  const sourcesOf = ({ Command, Redis, Cluster }: Pick<typeof ioredis, 'Command' | 'Redis' | 'Cluster'>) =>
    [Command, Redis, Cluster].map(({ prototype }) =>
      Object.entries(Object.getOwnPropertyDescriptors(prototype)).map(([name, { value, get }]) => [
        name,
        `${get ?? value}`,
      ]),
    );

  it('is left as it is, for other clients of the process', () => {
    const require = createRequire(import.meta.url);
    for (const urls of [['redis://127.0.0.1:1'], ['redis://127.0.0.1:1', 'redis://127.0.0.1:2']])
      connectRedis(urls, logger).disconnect();
    for (const path of Object.keys(require.cache)) if (path.includes('/ioredis/')) delete require.cache[path];
    const another: typeof ioredis = require('ioredis');
    expect(another.Command).not.toBe(ioredis.Command);
    expect(sourcesOf(ioredis)).toEqual(sourcesOf(another));
  });
});

describe.runIf(canStartServers())('sentinels', () => {
  const failureAt = async (hosts: readonly string[]) => {
    const redis = connectRedis(
      hosts.map((host) => `redis+sentinel://:secret@${host}/main?sentinel_password=hidden`),
      logger,
    );
    onTestFinished(() => redis.disconnect());
    return reasonOf(await awaitRedis(redis, CONNECTING).catch((error) => error));
  };

  it('that are away, or refuse the password, are named as the reason', async () => {
    expect(await failureAt(['127.0.0.1:1', '127.0.0.1:2'])).toBe('Error (no sentinel names the master)');
    const { url } = await startRedis();
    expect(await failureAt([new URL(url).host])).toBe('Error WRONGPASS (no sentinel names the master)');
  });
});

describe.runIf(canStartServers())('a Redis that refuses writes', () => {
  it.each([
    ['NOREPLICAS', 'min-replicas-to-write', '1', '0'],
    ['OOM', 'maxmemory', '1', '0'],
  ])('with %s is not up, and is when it accepts them again', async (code, setting, refusing, accepting) => {
    const server = await startRedis();
    const redis = await connect(server.url);
    await pingRedis(redis);
    const admin = await connect(server.url);
    await admin.call('CONFIG', 'SET', setting, refusing);
    await expect(pingRedis(redis)).rejects.toThrow(code);
    await admin.call('CONFIG', 'SET', setting, accepting);
    await pingRedis(redis);
    expect(await admin.call('DBSIZE')).toBe(0);
  });

  it('since it has become a replica, is left for the master that has its address now', async () => {
    const [former, promoted] = [await startRedis(), await startRedis()];
    await (await connect(promoted.url)).config('SET', 'requirepass', passwordOf(former.url));
    const address = await openHeldLine(former.url);
    const redis = await connect(address.url);
    const admin = await connect(former.url);
    await admin.call('REPLICAOF', '127.0.0.1', new URL(promoted.url).port);
    address.leadTo(promoted.url);
    await expect(pingRedis(redis)).rejects.toThrow('READONLY');
    await expect.poll(() => redis.set('key', 'value').catch(() => 'failed')).toBe('OK');
    await pingRedis(redis);
  });
});

it.runIf(canStartServers())(
  'a Redis that refuses the password is logged at warn once per outage, with the reason and without the password',
  async () => {
    const server = await startRedis();
    const admin = await connect(server.url);
    const lines: string[] = [];
    const destination = { write: (line: string) => void lines.push(line) };
    const options = { level: 'warn', nodeEnv: 'production', destination } as const;
    const redis = connectRedis([server.url], createLogger(options));
    onTestFinished(() => redis.disconnect());
    await awaitRedis(redis, CONNECTING);
    for (let outage = 1; outage <= 2; outage += 1) {
      let attempts = 0;
      redis.on('reconnecting', () => {
        attempts += 1;
      });
      await admin.call('CONFIG', 'SET', 'requirepass', 'another');
      await admin.call('CLIENT', 'KILL', 'TYPE', 'normal');
      await expect.poll(() => attempts, { timeout: CONNECTING }).toBeGreaterThan(3);
      expect(lines.map((line) => JSON.parse(line))).toEqual(
        Array(outage).fill(expect.objectContaining({ msg: 'the connection to Redis failed' })),
      );
      await admin.call('CONFIG', 'SET', 'requirepass', passwordOf(server.url));
      await expect.poll(() => redis.status, { timeout: CONNECTING }).toBe('ready');
    }
    expect(lines[0]).toContain('WRONGPASS');
    expect(lines.join()).not.toContain(passwordOf(server.url));
  },
);
