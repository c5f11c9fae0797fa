import { beforeAll } from 'vitest';
import { documentedHttp, type Http } from '../openapi/documented-http.ts';
import { postgresOfTheTests, redisOfTheTests } from '../servers/of-the-tests.ts';
import { createDatabase } from '../storage/databases.ts';
import { takeRedisDatabase } from '../storage/redis-databases.ts';
import { PRODUCTION } from './environments.ts';
import { type RunningService, runService } from './process.ts';
import { untilReady, whileShared } from './while-shared.ts';

/** Whether a PostgreSQL and a Redis are available for instances to share; in CI they always are. */
export const canShare = (): boolean => postgresOfTheTests() !== undefined && redisOfTheTests() !== undefined;

/** An instance of the service in a process of its own, and supertest against it. */
export type Instance = RunningService & {
  readonly http: Http;
  /** The time of its first line in the log, by the clock of its machine. Epoch milliseconds. */
  readonly startedAt: () => number;
};

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
    /** Runs a scenario while the instances share their counts; see `whileShared`. */
    whileShared: <Result>(scenario: (attempt: number) => Promise<Result>) => whileShared(instances, scenario),
  };
};

/** One machine is five minutes behind, the other five ahead. The service goes by the database's clock, so nothing may come of it. */
export const CLOCKS_APART = [-300_000, 300_000] as const;

/** Has a process begin with another idea of the time, before it loads anything that asks for it. `new Date()` has it, too. */
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
  // However slow the machine is, nothing is too late; only a hang is.
  REQUEST_TIMEOUT_MS: '600000',
  JWT_REFRESH_RACE_WINDOW: '5m',
};
