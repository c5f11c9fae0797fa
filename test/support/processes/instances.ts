import request from 'supertest';
import { afterAll, beforeAll, vi } from 'vitest';
import { postgresOfTheTests, redisOfTheTests } from '../servers/of-the-tests.ts';
import { createDatabase } from '../storage/databases.ts';
import { takeRedisDatabase } from '../storage/redis-databases.ts';
import { PRODUCTION } from './environments.ts';
import { type RunningService, runService } from './process.ts';

/** Whether a PostgreSQL and a Redis are available for instances to share; in CI they always are. */
export const canShare = (): boolean => postgresOfTheTests() !== undefined && redisOfTheTests() !== undefined;

/** A process of the service, and supertest for it. */
export type Instance = RunningService & { readonly http: ReturnType<typeof request> };

/**
 * Two processes of the service in production, started at the same time with one empty database and one empty Redis, for a
 * whole `describe` or test file. Limits are off unless `env` sets them.
 * @param clocks milliseconds by which the clock of each process is ahead.
 * @returns `at`: the process for a number: one for even numbers, the other for odd ones.
 */
export const twoInstances = (
  env: Readonly<Record<string, string>> = {},
  clocks: readonly [number, number] = [0, 0],
) => {
  const instances: Instance[] = [];
  const cleanups: (() => Promise<unknown>)[] = [];
  beforeAll(async () => {
    const database = await createDatabase(postgresOfTheTests() ?? '');
    cleanups.push(database.drop);
    const redis = await takeRedisDatabase(redisOfTheTests() ?? '');
    cleanups.push(redis.empty);
    const parts = { DATABASE_URL: database.url, REDIS_URL: redis.url };
    const start = async (ahead: number, index: number) => {
      const service = await runService({ ...UNLIMITED, ...parts, ...clockAhead(ahead), ...env });
      cleanups.push(() => service.stop('SIGKILL'));
      instances[index] = { ...service, http: request(service.url) };
    };
    // Wait for both, so that a process that started is stopped when the other one fails.
    for (const outcome of await Promise.allSettled(clocks.map(start))) {
      if (outcome.status === 'rejected') throw outcome.reason;
    }
    await Promise.all(instances.map(foundItsParts));
  });
  afterAll(async () => {
    for (const clean of cleanups.toReversed()) await clean();
  });
  return {
    at: (number: number): Instance => {
      const instance = instances[number % 2];
      if (instance === undefined) throw new Error('the instances do not run yet');
      return instance;
    },
  };
};

/** Sets the clock of a process ahead before it loads any other module. */
const clockAhead = (milliseconds: number): Readonly<Record<string, string>> => {
  if (milliseconds === 0) return {};
  const program = `const now = Date.now; Date.now = () => now() + ${milliseconds};`;
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(program)}` };
};

const UNLIMITED = {
  ...PRODUCTION,
  HOST: '127.0.0.1',
  RATE_LIMIT_STRICT: 'off',
  RATE_LIMIT_GLOBAL: 'off',
  RATE_LIMIT_PUBLIC: 'off',
};

/** Waits for Redis: a process listens before it is connected, and counts by itself until then. */
const foundItsParts = ({ http }: Instance): Promise<void> =>
  vi.waitFor(
    async () => {
      const { body } = await http.get('/health/ready');
      if (body.data?.status !== 'ready') throw new Error(`not ready: ${JSON.stringify(body)}`);
    },
    { timeout: 10_000, interval: 20 },
  );
