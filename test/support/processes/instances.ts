import { afterAll, beforeAll, vi } from 'vitest';
import { documentedHttp, type Http } from '../openapi/documented-http.ts';
import { postgresOfTheTests, redisOfTheTests } from '../servers/of-the-tests.ts';
import { createDatabase } from '../storage/databases.ts';
import { takeRedisDatabase } from '../storage/redis-databases.ts';
import { PRODUCTION } from './environments.ts';
import { type RunningService, runService } from './process.ts';

/** Whether a PostgreSQL and a Redis are available for instances to share; in CI they always are. */
export const canShare = (): boolean => postgresOfTheTests() !== undefined && redisOfTheTests() !== undefined;

/** An instance of the service in a process of its own, and supertest against it. */
export type Instance = RunningService & { readonly http: Http };

/**
 * Two processes of the service in production, started at the same time with one empty database and one empty Redis, for a
 * whole `describe` or test file. Limits are off and time limits long unless `env` sets them.
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
      instances[index] = { ...service, http: documentedHttp(service.url) };
    };
    // If one does not start, the other one has to be stopped.
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
    /**
     * Runs a scenario while the instances share their counts. A Redis that gets no processor time for a quarter of a second
     * counts as unavailable, and each instance counts for itself: then the scenario runs again, with the next number.
     */
    whileShared: async <Result>(scenario: (attempt: number) => Promise<Result>): Promise<Result> => {
      for (let attempt = 1; ; attempt += 1) {
        const before = timesAway(instances);
        await Promise.all(instances.map(foundItsParts));
        const result = await scenario(attempt);
        if (timesAway(instances) === before && !instances.some(isAway)) return result;
      }
    },
  };
};

const timesLogged = ({ stdout }: Instance, beginning: string): number =>
  stdout.filter((line) => JSON.parse(line).msg.startsWith(beginning)).length;

const timesAway = (instances: readonly Instance[]): number =>
  instances.reduce((sum, instance) => sum + timesLogged(instance, 'Redis is unavailable'), 0);

const isAway = (instance: Instance): boolean =>
  timesLogged(instance, 'Redis is unavailable') > timesLogged(instance, 'Redis is available again');

/** Has a process begin with another idea of the time, before it loads anything that asks for it. */
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
  // However slow the machine is, nothing is too late; only a hang is.
  REQUEST_TIMEOUT_MS: '600000',
  DATABASE_CONNECTION_TIMEOUT: '60s',
  DATABASE_STATEMENT_TIMEOUT: '60s',
};

/** A process listens before it is connected to Redis, and counts for itself until then. */
const foundItsParts = ({ http }: Instance): Promise<void> =>
  vi.waitFor(
    async () => {
      const { body } = await http.get('/health/ready');
      if (body.data?.status !== 'ready') throw new Error(`not ready: ${JSON.stringify(body)}`);
    },
    { timeout: 60_000, interval: 20 },
  );
