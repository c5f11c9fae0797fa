import { beforeAll } from 'vitest';
import { documentedHttp, type Http } from '../openapi/documented-http.ts';
import { postgresOfTheTests, redisOfTheTests } from '../servers/of-the-tests.ts';
import { createDatabase } from '../storage/databases.ts';
import { takeRedisDatabase } from '../storage/redis-databases.ts';
import { PRODUCTION } from './environments.ts';
import { type RunningService, runService } from './process.ts';
import { untilReady, whileShared } from './while-shared.ts';

/** Whether instances can share a PostgreSQL and a Redis. In CI they always can. */
export const canShare = (): boolean => postgresOfTheTests() !== undefined && redisOfTheTests() !== undefined;

/** An instance of the service in a process of its own, with a supertest client. */
export type Instance = RunningService & {
  readonly http: Http;
  /** The time of the first log line, by the clock of the process, in epoch milliseconds. */
  readonly startedAt: () => number;
};

/**
 * Starts two processes of the service in production at the same time, with one empty database and one empty Redis, for a
 * whole `describe` or test file. Rate limits are off and time limits long unless `env` sets them.
 * @param clocks milliseconds by which the clock of each process is ahead
 * @returns `at`, which gives one process for even numbers and the other for odd numbers
 */
export const twoInstances = (
  env: Readonly<Record<string, string>> = {},
  clocks: readonly [number, number] = [0, 0],
) => {
  const instances: Instance[] = [];
  let redisUrl = '';
  beforeAll(async () => {
    const { url } = await createDatabase(postgresOfTheTests() ?? '');
    redisUrl = await takeRedisDatabase(redisOfTheTests() ?? '');
    const parts = { DATABASE_URL: url, REDIS_URL: redisUrl };
    const start = async (ahead: number, index: number) => {
      const service = await runService({ ...UNLIMITED, ...parts, ...clockAhead(ahead), ...env });
      const startedAt = () => Date.parse(JSON.parse(service.stdout[0] ?? '').time);
      instances[index] = { ...service, http: documentedHttp(service.url), startedAt };
    };
    await Promise.all(clocks.map(start));
    await Promise.all(instances.map(untilReady));
  });
  return {
    redisUrl: () => redisUrl,
    at: (number: number): Instance => {
      const instance = instances[number % 2];
      if (instance === undefined) throw new Error('the instances do not run yet');
      return instance;
    },
    /** Runs a scenario while the instances share their counts, as `whileShared` says. */
    whileShared: <Result>(scenario: (attempt: number) => Promise<Result>) => whileShared(instances, scenario),
  };
};

/** One clock is five minutes behind, the other five ahead. The service must behave the same, because it uses the database's clock. */
export const CLOCKS_APART = [-300_000, 300_000] as const;

/** A variable that moves the clock of a process, `Date.now()` and `new Date()`, before the process loads any other module. */
const clockAhead = (milliseconds: number): Readonly<Record<string, string>> => {
  if (milliseconds === 0) return {};
  const program = `globalThis.Date = class extends Date {
    static now() { return super.now() + ${milliseconds}; }
    constructor(...given) { super(...(given.length === 0 ? [Date.now()] : given)); }
  };`;
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(program)}` };
};

const UNLIMITED = {
  ...PRODUCTION,
  HOST: '127.0.0.1',
  RATE_LIMITS: 'off',
  // Even on a slow machine, only a request that hangs exceeds this.
  REQUEST_TIMEOUT_MS: '600000',
  JWT_REFRESH_RACE_WINDOW: '5m',
};
