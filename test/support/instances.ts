import request from 'supertest';
import { afterAll, beforeAll, vi } from 'vitest';
import { createDatabase } from './databases.ts';
import { PRODUCTION } from './environments.ts';
import { type RunningService, runService } from './process.ts';
import { takeRedisDatabase } from './redis-databases.ts';
import { postgresOfTheTests, redisOfTheTests } from './servers/of-the-tests.ts';

/** A process of the service, and supertest against it. */
export type Instance = RunningService & { readonly http: ReturnType<typeof request> };

const start = async (env: Readonly<Record<string, string>>): Promise<Instance> => {
  const service = await runService(env);
  return { ...service, http: request(service.url) };
};

/** A process may listen before it has found Redis, and counts for itself until then. */
const ready = ({ http }: Instance): Promise<void> =>
  vi.waitFor(
    async () => {
      const { body } = await http.get('/health/ready');
      if (body.data?.status !== 'ready') throw new Error(`not ready: ${JSON.stringify(body)}`);
    },
    { timeout: 10_000, interval: 20 },
  );

/**
 * Two processes of the service in production, over one empty database and one empty Redis, for a whole file of tests.
 * @returns both, once `beforeAll` is over. They were started at the same time.
 */
export const twoInstances = (env: Readonly<Record<string, string>> = {}): (() => readonly [Instance, Instance]) => {
  const cleanups: (() => Promise<unknown>)[] = [];
  let instances: readonly [Instance, Instance] | undefined;
  beforeAll(async () => {
    const database = await createDatabase(postgresOfTheTests() ?? '');
    cleanups.push(database.drop);
    const redis = await takeRedisDatabase(redisOfTheTests() ?? '');
    cleanups.push(redis.empty);
    const shared = {
      ...PRODUCTION,
      HOST: '127.0.0.1',
      DATABASE_URL: database.url,
      REDIS_URL: redis.url,
      RATE_LIMIT_STRICT: 'off',
      RATE_LIMIT_GLOBAL: 'off',
      RATE_LIMIT_PUBLIC: 'off',
      ...env,
    };
    const started = await Promise.allSettled([start(shared), start(shared)]);
    const running = started.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
    cleanups.push(...running.map(({ stop }) => () => stop('SIGKILL')));
    const [one, other] = await Promise.all(started.map((each) => (each.status === 'fulfilled' ? each.value : Promise.reject(each.reason))));
    if (one === undefined || other === undefined) return;
    await Promise.all([ready(one), ready(other)]);
    instances = [one, other];
  });
  afterAll(async () => {
    for (const clean of cleanups.toReversed()) await clean();
  });
  return () => {
    if (instances === undefined) throw new Error('they do not run yet');
    return instances;
  };
};
